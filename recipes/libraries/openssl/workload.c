/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenSSL's workload program: see ../common/modes.h for the modes. One translation unit, linked statically to the
 * library under test: cc -I... workload.c libcrypto.a
 */
#include "support.h"
#include "vectors_ciphers.h"
#include "vectors_digests.h"
#include "vectors_kdfs.h"
#include "vectors_keys.h"
#include "evidence.h"
#include "bench.h"

/* The default digest of `openssl enc` and `openssl dgst`. Both are constants of the command-line tool's source; they
 * changed from md5 to sha256 with 1.1.0 (CHANGES: "The default digest ... is now SHA-256"), which is why data sealed by
 * 1.0 with a password does not open with 1.1 and looks corrupt. */
static const char *cx_default_digest(void)
{
    return OpenSSL_version_num() < 0x10100000UL ? "md5" : "sha256";
}

static int cx_vectors(FILE *out)
{
    struct cx_report report;

    cx_begin(&report, out);
    cx_default(&report, "openssl enc -md", cx_default_digest());
    cx_default(&report, "openssl dgst", cx_default_digest());
    cx_vectors_digests(&report);
    cx_vectors_macs(&report);
    cx_vectors_ciphers(&report);
    cx_vectors_kdfs(&report);
    cx_vectors_keys(&report);
    return cx_end(&report) ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const struct cx_workload workload = {
        .evidence = cx_evidence, .vectors = cx_vectors, .list = cx_bench_list, .bench = cx_bench};
    int status;

    if (cx_library_start() != 0) {
        return 1;
    }
    status = cx_modes(&workload, argc, argv);
    cx_library_end();
    return status;
}
