/* SPDX-License-Identifier: Apache-2.0 */
/* Elliptic curves: NIST's, Montgomery's and Edwards's. */
#ifndef CX_NETTLE_CURVES_H
#define CX_NETTLE_CURVES_H

#include <nettle/curve25519.h>
#include <nettle/curve448.h>
#include <nettle/dsa.h>
#include <nettle/ecc-curve.h>
#include <nettle/ecc.h>
#include <nettle/ecdsa.h>
#include <nettle/eddsa.h>

#include "operation.h"

/* ---- NIST curves: context[0] the scalar, context[1] the point, context[2] a signature; variant: bytes of a number ---- */

static void scalar_from(struct ecc_scalar *scalar, const uint8_t *bytes, size_t size, const char *name)
{
    uint8_t number[66];
    mpz_t value;

    memcpy(number, bytes, size);
    if (size == 66) {
        number[0] = 0; /* below the group's order, which has 521 bits */
    }
    nettle_mpz_init_set_str_256_u(value, size, number);
    if (!ecc_scalar_set(scalar, value)) {
        cx_die("a scalar is out of range for", name);
    }
    mpz_clear(value);
}

static void ecc_load(struct algorithm *a, const struct ecc_curve *curve, size_t size, const char *part)
{
    uint8_t bytes[66];

    a->variant = size;
    a->context[0] = cx_context(sizeof(struct ecc_scalar));
    a->context[1] = cx_context(sizeof(struct ecc_point));
    a->context[2] = cx_context(sizeof(struct dsa_signature));
    ecc_scalar_init(a->context[0], curve);
    ecc_point_init(a->context[1], curve);
    dsa_signature_init(a->context[2]);
    cx_part(a->name, part, bytes, size);
    scalar_from(a->context[0], bytes, size, a->name);
    ecc_point_mul_g(a->context[1], a->context[0]);
}

/* Writes x, and y where it is wanted, each `size` bytes; returns how many in all. */
static size_t point_out(const struct ecc_point *point, size_t size, int both, uint8_t *out)
{
    mpz_t x, y;

    mpz_init(x);
    mpz_init(y);
    ecc_point_get(point, x, y);
    nettle_mpz_get_str_256(size, out, x);
    if (both) {
        nettle_mpz_get_str_256(size, out + size, y);
    }
    mpz_clear(x);
    mpz_clear(y);
    return both ? 2 * size : size;
}

static long ecdh_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    const struct ecc_point *peer = a->context[1];
    struct ecc_scalar scalar;
    struct ecc_point point;
    size_t done = 0;

    ecc_scalar_init(&scalar, peer->ecc);
    ecc_point_init(&point, peer->ecc);
    for (; length >= a->variant; length -= a->variant, in += a->variant) {
        scalar_from(&scalar, in, a->variant, a->name);
        ecc_point_mul_g(&point, &scalar);
        done += point_out(&point, a->variant, 1, out + done);
        ecc_point_mul(&point, &scalar, peer);
        done += point_out(&point, a->variant, 0, out + done);
    }
    ecc_point_clear(&point);
    ecc_scalar_clear(&scalar);
    return (long)done;
}

static long ecdsa_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    struct dsa_signature *signature = a->context[2];
    uint8_t digest[SHA256_DIGEST_SIZE];

    message_digest(in, length, digest);
    ecdsa_sign(a->context[0], fresh_source(a), fixed_random, sizeof digest, digest, signature);
    nettle_mpz_get_str_256(a->variant, out, signature->r);
    nettle_mpz_get_str_256(a->variant, out + a->variant, signature->s);
    return (long)(2 * a->variant);
}

static int ecdsa_check(void *context, const uint8_t *in, size_t length, const uint8_t *out, size_t out_length)
{
    struct algorithm *a = context;
    struct dsa_signature *signature = a->context[2];
    uint8_t digest[SHA256_DIGEST_SIZE];

    nettle_mpz_set_str_256_u(signature->r, out_length / 2, out);
    nettle_mpz_set_str_256_u(signature->s, out_length / 2, out + out_length / 2);
    message_digest(in, length, digest);
    return ecdsa_verify(a->context[1], sizeof digest, digest, signature);
}

static void ecdsa_sign_once(struct algorithm *a)
{
    ecdsa_sign(a->context[0], fresh_source(a), fixed_random, SHA256_DIGEST_SIZE, operation_digest(), a->context[2]);
}

static void ecdsa_verify_once(struct algorithm *a)
{
    if (!ecdsa_verify(a->context[1], SHA256_DIGEST_SIZE, operation_digest(), a->context[2])) {
        cx_die("does not verify:", a->name);
    }
}

static void ecdh_once(struct algorithm *a)
{
    const struct ecc_point *peer = a->context[1];
    struct ecc_point shared;

    ecc_point_init(&shared, peer->ecc);
    ecc_point_mul(&shared, a->context[0], peer);
    ecc_point_clear(&shared);
}

static void add_curve(const char *curve_name, const struct ecc_curve *curve, size_t size)
{
    char name[48];
    struct algorithm *a;
    struct algorithm base = {0};

    (void)snprintf(name, sizeof name, "ecdh-%s", curve_name);
    a = cx_new(name);
    ecc_load(a, curve, size, "peer");
    a->work = ecdh_work;
    a->operation = ecdh_once;
    a->vectors.block = size;
    a->vectors.minimum = size;
    a->vectors.maximum = 3 * size;
    (void)snprintf(name, sizeof name, "ecdsa-%s-sha256-fixed", curve_name);
    a = cx_new(name);
    ecc_load(a, curve, size, "key");
    a->work = ecdsa_work;
    a->vectors.check = ecdsa_check;
    a->vectors.amount = CX_FEW;
    (void)snprintf(base.name, sizeof base.name, "ecdsa-%s", curve_name);
    ecc_load(&base, curve, size, "key");
    add_operation(&base, "-sign", ecdsa_sign_once);
    add_operation(&base, "-verify", ecdsa_verify_once);
}

/* ---- X25519, X448: key is the peer's scalar, context[0] its public key ---- */

#define MONTGOMERY(label, curve, size)                                                                             \
    static long label##_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)                  \
    {                                                                                                              \
        long done = 0;                                                                                             \
        for (; length >= (size); length -= (size), in += (size), done += 2 * (size)) {                             \
            curve##_mul_g(out + done, in);                                                                         \
            curve##_mul(out + done + (size), in, a->context[0]);                                                   \
        }                                                                                                          \
        return done;                                                                                               \
    }                                                                                                              \
    static void label##_once(struct algorithm *a)                                                                  \
    {                                                                                                              \
        uint8_t shared[size];                                                                                      \
        curve##_mul(shared, a->key, a->context[0]);                                                                \
    }                                                                                                              \
    static void add_##label(void)                                                                                  \
    {                                                                                                              \
        struct algorithm *a = cx_new(#label);                                                                      \
        cx_part(a->name, "peer", a->key, size);                                                                    \
        a->context[0] = cx_context(size);                                                                          \
        curve##_mul_g(a->context[0], a->key);                                                                      \
        a->work = label##_work;                                                                                    \
        a->operation = label##_once;                                                                               \
        a->vectors.block = size;                                                                                   \
        a->vectors.minimum = size;                                                                                 \
        a->vectors.maximum = 3 * (size);                                                                           \
    }

MONTGOMERY(x25519, curve25519, CURVE25519_SIZE)
MONTGOMERY(x448, curve448, CURVE448_SIZE)

/* ---- Ed25519, Ed448: context[0] the public key, context[1] a signature ---- */

#define EDWARDS(label, function, key_bytes, signature_bytes)                                                       \
    static long label##_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)                  \
    {                                                                                                              \
        function##_sign(a->context[0], a->key, length, in, out);                                                   \
        return signature_bytes;                                                                                    \
    }                                                                                                              \
    static int label##_check(void *context, const uint8_t *in, size_t length, const uint8_t *out, size_t out_length)\
    {                                                                                                              \
        struct algorithm *a = context;                                                                             \
        return out_length == (signature_bytes) && function##_verify(a->context[0], length, in, out);               \
    }                                                                                                              \
    static void label##_sign_once(struct algorithm *a)                                                             \
    {                                                                                                              \
        function##_sign(a->context[0], a->key, SHA256_DIGEST_SIZE, operation_digest(), a->context[1]);             \
    }                                                                                                              \
    static void label##_verify_once(struct algorithm *a)                                                           \
    {                                                                                                              \
        if (!function##_verify(a->context[0], SHA256_DIGEST_SIZE, operation_digest(), a->context[1])) {            \
            cx_die("does not verify:", a->name);                                                                   \
        }                                                                                                          \
    }                                                                                                              \
    static void add_##label(void)                                                                                  \
    {                                                                                                              \
        struct algorithm *a = cx_new(#label);                                                                      \
        cx_part(a->name, "key", a->key, key_bytes);                                                                \
        a->context[0] = cx_context(key_bytes);                                                                     \
        a->context[1] = cx_context(signature_bytes);                                                               \
        function##_public_key(a->context[0], a->key);                                                              \
        a->work = label##_work;                                                                                    \
        a->vectors.check = label##_check;                                                                          \
        a->vectors.amount = CX_FEW;                                                                                \
        add_operation(a, "-sign", label##_sign_once);                                                              \
        add_operation(a, "-verify", label##_verify_once);                                                          \
    }

EDWARDS(ed25519, ed25519_sha512, ED25519_KEY_SIZE, ED25519_SIGNATURE_SIZE)
EDWARDS(ed448, ed448_shake256, ED448_KEY_SIZE, ED448_SIGNATURE_SIZE)

#endif
