/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line of a workload program, the same for both libraries:
 *
 *   workload evidence                          reach every accelerated algorithm once, a line for each
 *   workload vectors                           outputs for the fixed inputs, as JSON (vectors.h)
 *   workload list                              what `bench` takes, as JSON
 *   workload bench ALGORITHM SIZE COUNT [REPEAT]
 *                                              bulk: SIZE bytes COUNT times; operations: SIZE is 0. No output.
 *                                              REPEAT chooses another stretch of the fixed random numbers, for what is
 *                                              random by nature (prime generation).
 *
 * NAMES for `bench` are those of vectors.h, so that both libraries' figures stand in one row:
 *   bulk        the digests, hmac-, cmac-, gmac-, poly1305, ciphers and AEADs of vectors.h (encryption), decryption of
 *               cbc, xts, gcm and chacha20-poly1305 as <name>-decrypt, and ghash
 *   operations  rsa-2048-sign rsa-2048-verify (also 3072, 4096), dsa-2048-sign/-verify, ecdsa-p256-sign/-verify (also
 *               p384, p521), ed25519-sign/-verify, ed448-sign/-verify, ecdh-p256 (also p384, p521), x25519, x448,
 *               ffdh-2048, safe-prime-<bits> (random)
 *   One piece of a digest or MAC: reset, all bytes, result, with the key set before. One piece of a plain cipher: one call
 *   that goes on in the stream of the piece before. One piece of an AEAD: nonce, 13 bytes of associated data (a TLS
 *   record's), the bytes, the tag; decryption checks it. One operation: the operation alone with keys set before; sign and
 *   verify take a SHA-256 digest (Edwards curves: a message of 32 bytes). The fixed random source starts again for each
 *   operation.
 *
 * Exit codes: 0 done, 1 the library failed (message on stderr), 2 usage. Numbers may have leading zeros: then the
 * arguments of two runs have the same length, and so the stack has the same alignment.
 */
#ifndef CX_MODES_H
#define CX_MODES_H

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vectors.h"

struct cx_bench_job {
    const char *algorithm;
    size_t size;           /* bytes of each piece; 0 for operations */
    unsigned long count;
    const char *repeat;    /* "" unless given */
};

/* Each returns 0, or 1 after a message on stderr; bench returns 2 for an algorithm that it does not have. */
struct cx_workload {
    int (*evidence)(void);
    int (*vectors)(FILE *out);
    int (*list)(FILE *out);
    int (*bench)(const struct cx_bench_job *job);
};

/* One entry of `list`; *printed counts them. */
static inline void cx_list_entry(FILE *out, int *printed, const char *algorithm, int bulk, int is_random)
{
    (void)fputs((*printed)++ > 0 ? ",\n" : "[\n", out);
    (void)fputs("{\"algorithm\": ", out);
    cx_json_string(out, algorithm);
    (void)fprintf(out, ", \"kind\": \"%s\", \"random\": %s}", bulk ? "bulk" : "operation", is_random ? "true" : "false");
}

/* Ends the list. Returns 0 where all of it was written. */
static inline int cx_list_end(FILE *out, int printed)
{
    (void)fputs(printed > 0 ? "\n]\n" : "[]\n", out);
    return fflush(out) != 0 || ferror(out);
}

/* A decimal number from 0 to maximum. Returns whether text is one. */
static inline int cx_number(const char *text, unsigned long maximum, unsigned long *number)
{
    char *end = NULL;

    if (*text < '0' || *text > '9') {
        return 0;
    }
    errno = 0;
    *number = strtoul(text, &end, 10);
    return errno == 0 && *end == '\0' && *number <= maximum;
}

static inline int cx_usage(const char *program)
{
    (void)fprintf(stderr, "usage: %s evidence | vectors | list | bench ALGORITHM SIZE COUNT [REPEAT]\n", program);
    return 2;
}

enum { CX_BENCH_LARGEST = 1 << 20 }; /* bytes of one piece */

static inline int cx_bench_mode(const struct cx_workload *workload, int argc, char **argv)
{
    struct cx_bench_job job = {.algorithm = argv[2], .repeat = argc > 5 ? argv[5] : ""};
    unsigned long size = 0;
    int status;

    if (!cx_number(argv[3], CX_BENCH_LARGEST, &size) || !cx_number(argv[4], 1000000000UL, &job.count)) {
        return cx_usage(argv[0]);
    }
    job.size = (size_t)size;
    status = workload->bench(&job);
    if (status == 2) {
        (void)fprintf(stderr, "%s: no algorithm %s here; `%s list` names them\n", argv[0], argv[2], argv[0]);
    }
    return status;
}

/* What main() is to return. */
static inline int cx_modes(const struct cx_workload *workload, int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "evidence") == 0) {
        return workload->evidence();
    }
    if (argc == 2 && strcmp(argv[1], "vectors") == 0) {
        return workload->vectors(stdout);
    }
    if (argc == 2 && strcmp(argv[1], "list") == 0) {
        return workload->list(stdout);
    }
    if ((argc == 5 || argc == 6) && strcmp(argv[1], "bench") == 0) {
        return cx_bench_mode(workload, argc, argv);
    }
    return cx_usage(argc > 0 ? argv[0] : "workload");
}

#endif
