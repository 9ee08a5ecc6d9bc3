/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nettle's workload program: see ../common/modes.h for the modes. One translation unit, linked statically to the library
 * under test; its headers are found as <nettle/...>: cc -I... workload.c -lhogweed -lnettle
 */
#include "algorithm.h"

#include "aeads.h"
#include "ciphers.h"
#include "digests.h"
#include "public.h"

static void add_all(void)
{
    add_digests();
    add_macs_and_derivations();
    add_ciphers();
    add_aeads();
    add_public();
}

static int run_vectors(FILE *out)
{
    struct cx_report report;

    cx_begin(&report, out);
    for (size_t i = 0; i < cx_listed; i++) {
        if (cx_list[i].work != NULL) {
            cx_family(&report, &cx_list[i].vectors);
        }
    }
    return cx_end(&report) ? 0 : 1;
}

/* Lengths that reach every path: less than a block, a few blocks, all strides of vector code, and a remainder. */
static const size_t evidence_lengths[] = {1, 16, 24, 32, 66, 112, 96, 256, 1040, 4096, 4097};

static int evidence_of(struct algorithm *a)
{
    static uint8_t in[CX_LONGEST], out[CX_LONGEST + CX_ROOM], back[CX_LONGEST + CX_ROOM];
    struct cx_sha256 hash;
    char text[17];

    cx_stream("data", in, sizeof in);
    cx_sha256_init(&hash);
    for (size_t i = 0; i < sizeof evidence_lengths / sizeof evidence_lengths[0]; i++) {
        size_t length = evidence_lengths[i];
        long written;

        if (length < a->vectors.minimum || (a->vectors.maximum != 0 && length > a->vectors.maximum)
            || (a->vectors.block > 1 && length % a->vectors.block != 0) || (a->vectors.amount == CX_FEW && length > 96)) {
            continue;
        }
        written = cx_seal(a, in, length, out);
        if (written < 0 || (a->undo != NULL && cx_unseal(a, out, (size_t)written, back) != (long)length)
            || (a->vectors.check != NULL && !a->vectors.check(a, in, length, out, (size_t)written))) {
            (void)fprintf(stderr, "workload: %s fails at length %zu\n", a->name, length);
            return 1;
        }
        cx_sha256_update(&hash, out, (size_t)written);
    }
    cx_sha256_hex(&hash, text, 8);
    (void)printf("%s %s\n", a->name, text);
    return 0;
}

static int run_evidence(void)
{
    int status = 0;

    for (size_t i = 0; i < cx_listed; i++) {
        if (cx_list[i].work != NULL) {
            status |= evidence_of(&cx_list[i]);
        }
        if (cx_list[i].operation != NULL) {
            cx_list[i].operation(&cx_list[i]);
            (void)printf("%s operation\n", cx_list[i].name);
        }
        (void)fflush(stdout);
    }
    return status;
}

static int run_list(FILE *out)
{
    char name[64];
    int printed = 0;

    for (size_t i = 0; i < cx_listed; i++) {
        const struct algorithm *a = &cx_list[i];

        if (a->bulk || a->operation != NULL) {
            cx_list_entry(out, &printed, a->name, a->bulk, 0);
        }
        if (a->bulk_undo) {
            (void)snprintf(name, sizeof name, "%s-decrypt", a->name);
            cx_list_entry(out, &printed, name, 1, 0);
        }
    }
    return cx_list_end(out, printed);
}

/* Finds the algorithm; *undo says whether its inverse is meant. */
static struct algorithm *find(const char *name, int *undo)
{
    size_t stem = strlen(name);

    for (size_t i = 0; i < cx_listed; i++) {
        *undo = 0;
        if (strcmp(cx_list[i].name, name) == 0 && (cx_list[i].bulk || cx_list[i].operation != NULL)) {
            return &cx_list[i];
        }
        *undo = 1;
        if (cx_list[i].bulk_undo && stem > 8 && strcmp(name + stem - 8, "-decrypt") == 0
            && strlen(cx_list[i].name) == stem - 8 && strncmp(cx_list[i].name, name, stem - 8) == 0) {
            return &cx_list[i];
        }
    }
    return NULL;
}

/* What a verification needs must have been signed before; that costs the same for every COUNT. */
static void sign_first(const struct algorithm *a)
{
    size_t stem = strlen(a->name);

    for (size_t i = 0; stem > 7 && strcmp(a->name + stem - 7, "-verify") == 0 && i < cx_listed; i++) {
        if (strncmp(cx_list[i].name, a->name, stem - 6) == 0 && strcmp(cx_list[i].name + stem - 6, "sign") == 0) {
            cx_list[i].operation(&cx_list[i]);
        }
    }
}

/* COUNT pieces of a bulk algorithm or of its inverse, which for an AEAD gets what was sealed once before. */
static int run_pieces(struct algorithm *a, int undo, const struct cx_bench_job *job)
{
    uint8_t *in = cx_context(job->size + CX_ROOM), *out = cx_context(job->size + CX_ROOM);
    long length = (long)job->size;

    cx_stream("data", in, job->size);
    a->aad_size = CX_RECORD_AAD;
    if (a->set_key != NULL) {
        a->set_key(a);
    }
    if (undo && a->vectors.authenticated) {
        length = a->work(a, in, job->size, out);
        memcpy(in, out, (size_t)length);
    }
    memcpy(a->iv, a->first_iv, sizeof a->iv);
    for (unsigned long i = 0; i < job->count; i++) {
        if ((undo ? a->undo : a->work)(a, in, (size_t)length, out) < 0) {
            (void)fprintf(stderr, "workload: %s fails\n", job->algorithm);
            return 1;
        }
    }
    return 0;
}

static int run_bench(const struct cx_bench_job *job)
{
    int undo = 0;
    struct algorithm *a = find(job->algorithm, &undo);

    if (a == NULL) {
        return 2;
    }
    if (a->bulk) {
        return run_pieces(a, undo, job);
    }
    sign_first(a);
    for (unsigned long i = 0; i < job->count; i++) {
        a->operation(a);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct cx_workload workload = {
        .evidence = run_evidence, .vectors = run_vectors, .list = run_list, .bench = run_bench};

    cx_only = argc > 2 && strcmp(argv[1], "bench") == 0 ? argv[2] : NULL;
    add_all();
    return cx_modes(&workload, argc, argv);
}
