/* SPDX-License-Identifier: Apache-2.0 */
/* Deterministic signatures and key agreement through the fixed inputs. */
#ifndef CX_OPENSSL_VECTORS_KEYS_H
#define CX_OPENSSL_VECTORS_KEYS_H

#include "support.h"

struct cx_signature_context {
    EVP_PKEY *key;
    const char *digest; /* NULL for Edwards curves */
    int deterministic;  /* ask for the nonce of RFC 6979 */
};

static int cx_sign_start(EVP_MD_CTX *ctx, const struct cx_signature_context *c, int sign)
{
    const EVP_MD *digest = c->digest == NULL ? NULL : EVP_get_digestbyname(c->digest);
    EVP_PKEY_CTX *key_ctx = NULL;

    if (!sign) {
        return EVP_DigestVerifyInit(ctx, NULL, digest, NULL, c->key);
    }
    if (!EVP_DigestSignInit(ctx, &key_ctx, digest, NULL, c->key)) {
        return 0;
    }
#ifdef OSSL_SIGNATURE_PARAM_NONCE_TYPE
    if (c->deterministic) {
        unsigned type = 1;
        OSSL_PARAM params[] = {OSSL_PARAM_construct_uint(OSSL_SIGNATURE_PARAM_NONCE_TYPE, &type), OSSL_PARAM_END};

        return EVP_PKEY_CTX_set_params(key_ctx, params) > 0;
    }
#endif
    return 1;
}

static long cx_sign_seal(void *context, const uint8_t *in, size_t length, uint8_t *out)
{
    const struct cx_signature_context *c = context;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    size_t written = CX_ROOM;
    int good;

    cx_random_restart(); /* RSA's blinding */
    good = ctx != NULL && cx_sign_start(ctx, c, 1) && EVP_DigestSign(ctx, out, &written, in, length);
    EVP_MD_CTX_free(ctx);
    ERR_clear_error();
    return good ? (long)written : -1;
}

static int cx_sign_check(void *context, const uint8_t *in, size_t length, const uint8_t *out, size_t out_length)
{
    const struct cx_signature_context *c = context;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    int good = ctx != NULL && cx_sign_start(ctx, c, 0) && EVP_DigestVerify(ctx, out, out_length, in, length) == 1;

    EVP_MD_CTX_free(ctx);
    ERR_clear_error();
    return good;
}

/* Frees the key. Does nothing where the build has no such key. */
static void cx_signature_family(struct cx_report *report, const char *name, EVP_PKEY *key, const char *digest,
                                int deterministic)
{
    struct cx_signature_context c = {.key = key, .digest = digest, .deterministic = deterministic};
    struct cx_algorithm algorithm = {
        .name = name, .seal = cx_sign_seal, .check = cx_sign_check, .context = &c, .amount = CX_FEW};

    if (key != NULL) {
        cx_family(report, &algorithm);
    }
    EVP_PKEY_free(key);
    ERR_clear_error();
}

#ifdef OSSL_PKEY_PARAM_ML_DSA_SEED
/* ML-DSA: a key from a seed of 32 bytes, the deterministic variant. Its signatures are long, so the output is the
 * SHA-256 of one, and it is verified where it is made. */
static EVP_PKEY *cx_ml_dsa_key(const char *name)
{
    uint8_t seed[32];
    OSSL_PARAM params[2] = {OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_ML_DSA_SEED, seed, sizeof seed),
                            OSSL_PARAM_construct_end()};
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, name, NULL);
    EVP_PKEY *key = NULL;

    cx_part(name, "key", seed, sizeof seed);
    if (ctx == NULL || EVP_PKEY_fromdata_init(ctx) <= 0
        || EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_KEYPAIR, params) <= 0) {
        key = NULL;
    }
    EVP_PKEY_CTX_free(ctx);
    return key;
}

static long cx_ml_dsa_seal(void *context, const uint8_t *in, size_t length, uint8_t *out)
{
    static uint8_t signature[8192];
    int deterministic = 1;
    OSSL_PARAM params[2] = {OSSL_PARAM_construct_int(OSSL_SIGNATURE_PARAM_DETERMINISTIC, &deterministic),
                            OSSL_PARAM_construct_end()};
    EVP_MD_CTX *ctx = EVP_MD_CTX_new(), *checker = EVP_MD_CTX_new();
    size_t written = sizeof signature;
    struct cx_sha256 hash;
    int good = ctx != NULL && checker != NULL && EVP_DigestSignInit_ex(ctx, NULL, NULL, NULL, NULL, context, params)
        && EVP_DigestSign(ctx, signature, &written, in, length)
        && EVP_DigestVerifyInit_ex(checker, NULL, NULL, NULL, NULL, context, NULL)
        && EVP_DigestVerify(checker, signature, written, in, length) == 1;

    EVP_MD_CTX_free(ctx);
    EVP_MD_CTX_free(checker);
    ERR_clear_error();
    if (!good) {
        return -1;
    }
    cx_sha256_init(&hash);
    cx_sha256_update(&hash, signature, written);
    cx_sha256_final(&hash, out);
    return 32;
}

static void cx_vectors_ml_dsa(struct cx_report *report)
{
    static const char *const names[] = {"ml-dsa-44", "ml-dsa-65", "ml-dsa-87"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        EVP_PKEY *key = cx_ml_dsa_key(names[i]);
        struct cx_algorithm algorithm = {
            .name = names[i], .seal = cx_ml_dsa_seal, .context = key, .amount = CX_FEW};

        if (key != NULL) {
            cx_family(report, &algorithm);
        }
        EVP_PKEY_free(key);
        ERR_clear_error();
    }
}
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* Key agreement: the input is private scalars (vectors.h)                                                            */

enum { CX_SCALARS = 3 };

#ifndef OPENSSL_NO_EC
struct cx_raw_agreement {
    const struct cx_raw_curve *curve;
    EVP_PKEY *peer;
};

/* Public key and shared secret of one private key: twice the curve's bytes. */
static int cx_raw_agree(const struct cx_raw_agreement *c, const uint8_t *scalar, uint8_t *out)
{
    size_t bytes = c->curve->bytes, got = bytes, shared = bytes;
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(c->curve->type, NULL, scalar, bytes);
    EVP_PKEY_CTX *ctx = key == NULL ? NULL : EVP_PKEY_CTX_new(key, NULL);
    int good = ctx != NULL && EVP_PKEY_get_raw_public_key(key, out, &got) && EVP_PKEY_derive_init(ctx) > 0
        && EVP_PKEY_derive_set_peer(ctx, c->peer) > 0 && EVP_PKEY_derive(ctx, out + bytes, &shared) > 0;

    EVP_PKEY_CTX_free(ctx);
    EVP_PKEY_free(key);
    return good && got == bytes && shared == bytes;
}

static long cx_raw_agreement_seal(void *context, const uint8_t *in, size_t length, uint8_t *out)
{
    const struct cx_raw_agreement *c = context;
    size_t bytes = c->curve->bytes;
    long written = 0;

    for (size_t at = 0; at < length; at += bytes) {
        if (!cx_raw_agree(c, in + at, out + written)) {
            ERR_clear_error();
            return -1;
        }
        written += (long)(2 * bytes);
    }
    return written;
}

static void cx_raw_agreement_family(struct cx_report *report, const struct cx_raw_curve *curve)
{
    struct cx_raw_agreement c = {.curve = curve, .peer = cx_raw_key(curve, "peer")};
    struct cx_algorithm algorithm = {
        .name = curve->name, .seal = cx_raw_agreement_seal, .context = &c, .block = curve->bytes,
        .minimum = curve->bytes, .maximum = CX_SCALARS * curve->bytes};

    if (c.peer != NULL) {
        cx_family(report, &algorithm);
    }
    EVP_PKEY_free(c.peer);
    ERR_clear_error();
}

struct cx_agreement {
    const struct cx_curve *curve;
    EC_GROUP *group;
    EC_POINT *peer;
};

/* Public x and y, shared x. */
static int cx_agree(const struct cx_agreement *c, const uint8_t *bytes, uint8_t *out)
{
    int size = (int)c->curve->bytes;
    BIGNUM *scalar = cx_scalar(c->curve, bytes), *x = BN_new(), *y = BN_new();
    EC_POINT *point = EC_POINT_new(c->group);
    int good = scalar != NULL && x != NULL && y != NULL && point != NULL
        && EC_POINT_mul(c->group, point, scalar, NULL, NULL, NULL)
        && EC_POINT_get_affine_coordinates(c->group, point, x, y, NULL) && BN_bn2binpad(x, out, size) == size
        && BN_bn2binpad(y, out + size, size) == size
        && EC_POINT_mul(c->group, point, NULL, c->peer, scalar, NULL)
        && EC_POINT_get_affine_coordinates(c->group, point, x, y, NULL) && BN_bn2binpad(x, out + 2 * size, size) == size;

    EC_POINT_free(point);
    BN_free(x);
    BN_free(y);
    BN_free(scalar);
    return good;
}

static long cx_agreement_seal(void *context, const uint8_t *in, size_t length, uint8_t *out)
{
    const struct cx_agreement *c = context;
    long written = 0;

    for (size_t at = 0; at < length; at += c->curve->bytes) {
        if (!cx_agree(c, in + at, out + written)) {
            ERR_clear_error();
            return -1;
        }
        written += (long)(3 * c->curve->bytes);
    }
    return written;
}

static void cx_agreement_family(struct cx_report *report, const struct cx_curve *curve)
{
    char name[CX_NAME];
    uint8_t bytes[66];
    struct cx_agreement c = {.curve = curve, .group = EC_GROUP_new_by_curve_name(curve->nid)};
    struct cx_algorithm algorithm = {
        .name = name, .seal = cx_agreement_seal, .context = &c, .block = curve->bytes, .minimum = curve->bytes,
        .maximum = CX_SCALARS * curve->bytes};
    BIGNUM *scalar;

    (void)snprintf(name, sizeof name, "ecdh-%s", curve->name);
    cx_part(name, "peer", bytes, curve->bytes);
    scalar = cx_scalar(curve, bytes);
    c.peer = c.group == NULL ? NULL : EC_POINT_new(c.group);
    if (c.peer != NULL && scalar != NULL && EC_POINT_mul(c.group, c.peer, scalar, NULL, NULL, NULL)) {
        cx_family(report, &algorithm);
    }
    BN_free(scalar);
    EC_POINT_free(c.peer);
    EC_GROUP_free(c.group);
    ERR_clear_error();
}

static void cx_vectors_curves(struct cx_report *report)
{
    for (size_t i = 0; i < CX_RAW_CURVES; i++) {
        const struct cx_raw_curve *curve = &cx_raw_curves[i];

        if (curve->signs) {
            cx_signature_family(report, curve->name, cx_raw_key(curve, "key"), NULL, 0);
        } else {
            cx_raw_agreement_family(report, curve);
        }
    }
    for (size_t i = 0; i < CX_CURVES; i++) {
        cx_agreement_family(report, &cx_curves[i]);
    }
# ifdef OSSL_SIGNATURE_PARAM_NONCE_TYPE
    for (size_t i = 0; i < CX_CURVES; i++) {
        char name[CX_NAME];

        (void)snprintf(name, sizeof name, "ecdsa-%s-sha256", cx_curves[i].name);
        cx_signature_family(report, name, cx_ec(&cx_curves[i], name, "key"), "SHA256", 1);
    }
# endif
}
#endif

static void cx_vectors_keys(struct cx_report *report)
{
    cx_signature_family(report, "rsa-2048-sha1", cx_rsa(2048), "SHA1", 0);
    cx_signature_family(report, "rsa-2048-sha256", cx_rsa(2048), "SHA256", 0);
    cx_signature_family(report, "rsa-2048-sha512", cx_rsa(2048), "SHA512", 0);
#if !defined OPENSSL_NO_DSA && defined OSSL_SIGNATURE_PARAM_NONCE_TYPE
    cx_signature_family(report, "dsa-2048-sha256", cx_dsa(), "SHA256", 1);
#endif
#ifndef OPENSSL_NO_EC
    cx_vectors_curves(report);
#endif
#ifdef OSSL_PKEY_PARAM_ML_DSA_SEED
    cx_vectors_ml_dsa(report);
#endif
}

#endif
