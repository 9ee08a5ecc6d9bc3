/* SPDX-License-Identifier: Apache-2.0 */
/* What `bench` measures. Set-up is done once, COUNT pieces or operations follow: the slope over COUNT has no set-up. */
#ifndef CX_OPENSSL_BENCH_H
#define CX_OPENSSL_BENCH_H

#include "bench_bulk.h"
#include "bench_operations.h"

/* An algorithm is there when a piece of it can be done: builds without it answer with an error. */
static int cx_bulk_offered(const struct cx_bulk *bulk)
{
    uint8_t data[64 + EVP_MAX_BLOCK_LENGTH] = {0};
    struct cx_piece piece = {.data = data, .size = 64};
    int offered = cx_bulk_run(bulk, &piece, 1);

    ERR_clear_error();
    return offered;
}

static int cx_operation_offered(const struct cx_operation *operation)
{
    struct cx_operands operands;
    int offered = cx_operands_start(&operands, operation);

    cx_operands_end(&operands);
    ERR_clear_error();
    return offered;
}

static int cx_bench_list(FILE *out)
{
    int printed = 0;

    for (size_t i = 0; i < CX_BULKS; i++) {
        if (cx_bulk_offered(&cx_bulks[i])) {
            cx_list_entry(out, &printed, cx_bulks[i].name, 1, 0);
        }
    }
    for (size_t i = 0; i < CX_OPERATIONS; i++) {
        if (cx_operation_offered(&cx_operations[i])) {
            cx_list_entry(out, &printed, cx_operations[i].name, 0, cx_operations[i].kind == CX_PRIME);
        }
    }
    return cx_list_end(out, printed);
}

static int cx_bench_bulk(const struct cx_bulk *bulk, const struct cx_bench_job *job)
{
    struct cx_piece piece = {.data = calloc(1, job->size + EVP_MAX_BLOCK_LENGTH), .size = job->size};
    int good = piece.data != NULL;

    if (good) {
        cx_stream("data", piece.data, job->size);
        good = cx_bulk_run(bulk, &piece, job->count);
    }
    free(piece.data);
    return good ? 0 : cx_complain(job->algorithm);
}

static int cx_bench(const struct cx_bench_job *job)
{
    (void)snprintf(cx_random_label, sizeof cx_random_label, "random%.40s", job->repeat);
    for (size_t i = 0; i < CX_BULKS; i++) {
        if (strcmp(cx_bulks[i].name, job->algorithm) == 0) {
            return cx_bench_bulk(&cx_bulks[i], job);
        }
    }
    for (size_t i = 0; i < CX_OPERATIONS; i++) {
        if (strcmp(cx_operations[i].name, job->algorithm) == 0) {
            return cx_operation_run(&cx_operations[i], job->count) ? 0 : cx_complain(job->algorithm);
        }
    }
    return 2;
}

#endif
