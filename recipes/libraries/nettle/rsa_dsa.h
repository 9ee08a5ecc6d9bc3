/* SPDX-License-Identifier: Apache-2.0 */
/* RSA and DSA. */
#ifndef CX_NETTLE_RSA_DSA_H
#define CX_NETTLE_RSA_DSA_H

#include <nettle/dsa.h>
#include <nettle/rsa.h>

#include "keys.h"
#include "operation.h"

/* ---- RSA: context[0] the private key, context[1] the public one, context[2] a signature of the digest ---- */

static void hex_number(mpz_t number, const char *text)
{
    if (mpz_init_set_str(number, text, 16) != 0) {
        cx_die("not a number:", text);
    }
}

static void rsa_load(struct algorithm *a, const struct cx_rsa_key *key)
{
    struct rsa_private_key *private = cx_context(sizeof *private);
    struct rsa_public_key *public = cx_context(sizeof *public);

    hex_number(private->d, key->d);
    hex_number(private->p, key->p);
    hex_number(private->q, key->q);
    hex_number(private->a, key->dp);
    hex_number(private->b, key->dq);
    hex_number(private->c, key->qinv);
    hex_number(public->n, key->n);
    hex_number(public->e, CX_RSA_EXPONENT);
    if (!rsa_private_key_prepare(private) || !rsa_public_key_prepare(public)) {
        cx_die("the key is refused for", a->name);
    }
    a->context[0] = private;
    a->context[1] = public;
}

#define RSA_SIGNATURE(digest)                                                                                      \
    static long rsa_##digest##_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)           \
    {                                                                                                              \
        const struct rsa_public_key *public = a->context[1];                                                       \
        struct digest##_ctx hash;                                                                                  \
        mpz_t signature;                                                                                           \
        int good;                                                                                                  \
        mpz_init(signature);                                                                                       \
        digest##_init(&hash);                                                                                      \
        digest##_update(&hash, length, in);                                                                        \
        good = rsa_##digest##_sign_tr(public, a->context[0], fresh_source(a), fixed_random, &hash, signature);     \
        nettle_mpz_get_str_256(public->size, out, signature);                                                      \
        mpz_clear(signature);                                                                                      \
        return good ? (long)public->size : -1;                                                                     \
    }                                                                                                              \
    static int rsa_##digest##_check(void *context, const uint8_t *in, size_t length, const uint8_t *out,           \
                                    size_t out_length)                                                             \
    {                                                                                                              \
        struct algorithm *a = context;                                                                             \
        struct digest##_ctx hash;                                                                                  \
        mpz_t signature;                                                                                           \
        int good;                                                                                                  \
        nettle_mpz_init_set_str_256_u(signature, out_length, out);                                                 \
        digest##_init(&hash);                                                                                      \
        digest##_update(&hash, length, in);                                                                        \
        good = rsa_##digest##_verify(a->context[1], &hash, signature);                                             \
        mpz_clear(signature);                                                                                      \
        return good;                                                                                               \
    }

RSA_SIGNATURE(sha1)
RSA_SIGNATURE(sha256)
RSA_SIGNATURE(sha512)

static void add_rsa_signature(const char *name, long (*work)(struct algorithm *, const uint8_t *, size_t, uint8_t *),
                              cx_check *check)
{
    struct algorithm *a = cx_new(name);

    rsa_load(a, cx_rsa_key(2048));
    a->work = work;
    a->vectors.check = check;
    a->vectors.amount = CX_FEW;
}

static void rsa_sign(struct algorithm *a)
{
    struct cx_source *source = fresh_source(a);

    if (!rsa_sha256_sign_digest_tr(a->context[1], a->context[0], source, fixed_random, operation_digest(),
                                   *(mpz_t *)a->context[2])) {
        cx_die("cannot sign:", a->name);
    }
}

static void rsa_verify(struct algorithm *a)
{
    if (!rsa_sha256_verify_digest(a->context[1], operation_digest(), *(mpz_t *)a->context[2])) {
        cx_die("does not verify:", a->name);
    }
}

static void add_rsa_operations(unsigned bits)
{
    struct algorithm base = {0};

    (void)snprintf(base.name, sizeof base.name, "rsa-%u", bits);
    rsa_load(&base, cx_rsa_key(bits));
    base.context[2] = cx_context(sizeof(mpz_t));
    mpz_init(*(mpz_t *)base.context[2]);
    add_operation(&base, "-sign", rsa_sign);
    add_operation(&base, "-verify", rsa_verify);
}

/* ---- DSA: context[0] parameters, context[1] x and y, context[2] a signature ---- */

static void dsa_sign_once(struct algorithm *a)
{
    mpz_t *numbers = a->context[1];

    if (!dsa_sign(a->context[0], numbers[0], fresh_source(a), fixed_random, SHA256_DIGEST_SIZE, operation_digest(),
                  a->context[2])) {
        cx_die("cannot sign:", a->name);
    }
}

static void dsa_verify_once(struct algorithm *a)
{
    mpz_t *numbers = a->context[1];

    if (!dsa_verify(a->context[0], numbers[1], SHA256_DIGEST_SIZE, operation_digest(), a->context[2])) {
        cx_die("does not verify:", a->name);
    }
}

static void add_dsa(void)
{
    struct algorithm base = {.name = "dsa-2048"};
    struct dsa_params *parameters = cx_context(sizeof *parameters);
    mpz_t *numbers = cx_context(2 * sizeof *numbers);

    hex_number(parameters->p, cx_dsa_key_2048.p);
    hex_number(parameters->q, cx_dsa_key_2048.q);
    hex_number(parameters->g, cx_dsa_key_2048.g);
    hex_number(numbers[0], cx_dsa_key_2048.x);
    hex_number(numbers[1], cx_dsa_key_2048.y);
    base.context[0] = parameters;
    base.context[1] = numbers;
    base.context[2] = cx_context(sizeof(struct dsa_signature));
    dsa_signature_init(base.context[2]);
    add_operation(&base, "-sign", dsa_sign_once);
    add_operation(&base, "-verify", dsa_verify_once);
}

#endif
