/* SPDX-License-Identifier: Apache-2.0 */
/* What all public-key algorithms need. Whatever wants random numbers gets a fixed stream that starts again for each
 * operation. */
#ifndef CX_NETTLE_OPERATION_H
#define CX_NETTLE_OPERATION_H

#include <nettle/bignum.h>
#include <nettle/sha.h>

#include "algorithm.h"

static void fixed_random(void *source, size_t length, uint8_t *out)
{
    cx_source_read(source, out, length);
}

static struct cx_source *fresh_source(const struct algorithm *a)
{
    static struct cx_source source;
    char label[80];

    (void)snprintf(label, sizeof label, "%s/random", a->name);
    cx_source_start(&source, label);
    return &source;
}

static void message_digest(const uint8_t *in, size_t length, uint8_t digest[SHA256_DIGEST_SIZE])
{
    struct sha256_ctx hash;

    sha256_init(&hash);
    sha256_update(&hash, length, in);
    sha256_digest(&hash, SHA256_DIGEST_SIZE, digest);
}

/* An operation of `bench` by another name, on the contexts of `base`. */
static void add_operation(const struct algorithm *base, const char *suffix, void (*operation)(struct algorithm *))
{
    char name[64];
    struct algorithm *a;

    (void)snprintf(name, sizeof name, "%s%s", base->name, suffix);
    a = cx_new(name);
    memcpy(a->context, base->context, sizeof a->context);
    memcpy(a->key, base->key, sizeof a->key);
    a->variant = base->variant;
    a->key_size = base->key_size;
    a->operation = operation;
    a->vectors.seal = NULL;
}

/* The digest that operations sign and verify. */
static const uint8_t *operation_digest(void)
{
    static uint8_t digest[SHA256_DIGEST_SIZE];

    if (digest[0] == 0) {
        message_digest((const uint8_t *)"crossmatrix", 11, digest);
    }
    return digest;
}

#endif
