/* SPDX-License-Identifier: Apache-2.0 */
/* Public-key operations that `bench` measures, and the search for a safe prime. */
#ifndef CX_OPENSSL_BENCH_OPERATIONS_H
#define CX_OPENSSL_BENCH_OPERATIONS_H

#include "support.h"

enum { CX_SIGNED = 32, CX_RESULT = 1024 };

enum cx_operation_kind { CX_SIGN, CX_VERIFY, CX_MESSAGE_SIGN, CX_MESSAGE_VERIFY, CX_DERIVE, CX_PRIME };
enum cx_key_kind { CX_KEY_RSA, CX_KEY_DSA, CX_KEY_DH, CX_KEY_EC, CX_KEY_RAW, CX_KEY_NONE };

struct cx_operation {
    const char *name;
    enum cx_operation_kind kind;
    enum cx_key_kind key;
    unsigned which; /* RSA: bits; curves: index of their table; primes: bits */
};

static const struct cx_operation cx_operations[] = {
    {"rsa-2048-sign", CX_SIGN, CX_KEY_RSA, 2048},
    {"rsa-2048-verify", CX_VERIFY, CX_KEY_RSA, 2048},
    {"rsa-3072-sign", CX_SIGN, CX_KEY_RSA, 3072},
    {"rsa-3072-verify", CX_VERIFY, CX_KEY_RSA, 3072},
    {"rsa-4096-sign", CX_SIGN, CX_KEY_RSA, 4096},
    {"rsa-4096-verify", CX_VERIFY, CX_KEY_RSA, 4096},
    {"dsa-2048-sign", CX_SIGN, CX_KEY_DSA, 0},
    {"dsa-2048-verify", CX_VERIFY, CX_KEY_DSA, 0},
    {"ffdh-2048", CX_DERIVE, CX_KEY_DH, 0},
    {"ecdsa-p256-sign", CX_SIGN, CX_KEY_EC, 0},
    {"ecdsa-p256-verify", CX_VERIFY, CX_KEY_EC, 0},
    {"ecdsa-p384-sign", CX_SIGN, CX_KEY_EC, 1},
    {"ecdsa-p384-verify", CX_VERIFY, CX_KEY_EC, 1},
    {"ecdsa-p521-sign", CX_SIGN, CX_KEY_EC, 2},
    {"ecdsa-p521-verify", CX_VERIFY, CX_KEY_EC, 2},
    {"ecdh-p256", CX_DERIVE, CX_KEY_EC, 0},
    {"ecdh-p384", CX_DERIVE, CX_KEY_EC, 1},
    {"ecdh-p521", CX_DERIVE, CX_KEY_EC, 2},
    {"ed25519-sign", CX_MESSAGE_SIGN, CX_KEY_RAW, 0},
    {"ed25519-verify", CX_MESSAGE_VERIFY, CX_KEY_RAW, 0},
    {"ed448-sign", CX_MESSAGE_SIGN, CX_KEY_RAW, 1},
    {"ed448-verify", CX_MESSAGE_VERIFY, CX_KEY_RAW, 1},
    {"x25519", CX_DERIVE, CX_KEY_RAW, 2},
    {"x448", CX_DERIVE, CX_KEY_RAW, 3},
    {"safe-prime-256", CX_PRIME, CX_KEY_NONE, 256},
};

enum { CX_OPERATIONS = sizeof cx_operations / sizeof cx_operations[0] };

/* What stays the same from one operation to the next. */
struct cx_operands {
    const struct cx_operation *operation;
    EVP_PKEY *key;
    EVP_PKEY_CTX *ctx;
    EVP_MD_CTX *message_ctx;
    uint8_t input[CX_SIGNED];
    uint8_t signature[CX_RESULT];
    size_t signature_length;
};

static EVP_PKEY *cx_operation_key(const struct cx_operation *operation, const char *part)
{
    switch (operation->key) {
    case CX_KEY_RSA:
        return cx_rsa(operation->which);
#ifndef OPENSSL_NO_DSA
    case CX_KEY_DSA:
        return cx_dsa();
#endif
#ifndef OPENSSL_NO_DH
    case CX_KEY_DH:
        return cx_ffdh(part);
#endif
#ifndef OPENSSL_NO_EC
    case CX_KEY_EC:
        return cx_ec(&cx_curves[operation->which], operation->name, part);
    case CX_KEY_RAW:
        return cx_raw_key(&cx_raw_curves[operation->which], part);
#endif
    default:
        return NULL;
    }
}

static int cx_sign_once(struct cx_operands *o, uint8_t *out, size_t *length)
{
    *length = CX_RESULT;
    if (o->operation->kind == CX_SIGN || o->operation->kind == CX_VERIFY) {
        return EVP_PKEY_sign(o->ctx, out, length, o->input, CX_SIGNED) > 0;
    }
    /* A context signs or verifies one message; later versions refuse a second. */
    return EVP_DigestSignInit(o->message_ctx, NULL, NULL, NULL, o->key)
        && EVP_DigestSign(o->message_ctx, out, length, o->input, CX_SIGNED);
}

/* Signs once, so that there is something to verify. */
static int cx_ready_to_verify(struct cx_operands *o)
{
    if (o->operation->kind == CX_MESSAGE_VERIFY) {
        return cx_sign_once(o, o->signature, &o->signature_length);
    }
    return EVP_PKEY_sign_init(o->ctx) > 0 && cx_sign_once(o, o->signature, &o->signature_length)
        && EVP_PKEY_verify_init(o->ctx) > 0;
}

static int cx_ready_to_derive(struct cx_operands *o)
{
    EVP_PKEY *peer = cx_operation_key(o->operation, "peer");
    int good = peer != NULL && EVP_PKEY_derive_init(o->ctx) > 0 && EVP_PKEY_derive_set_peer(o->ctx, peer) > 0;

    EVP_PKEY_free(peer);
    return good;
}

static int cx_operands_start(struct cx_operands *o, const struct cx_operation *operation)
{
    memset(o, 0, sizeof *o);
    o->operation = operation;
    if (operation->kind == CX_PRIME) {
        return 1;
    }
    cx_part(operation->name, "input", o->input, sizeof o->input);
    o->key = cx_operation_key(operation, "key");
    o->ctx = o->key == NULL ? NULL : EVP_PKEY_CTX_new(o->key, NULL);
    o->message_ctx = EVP_MD_CTX_new();
    if (o->ctx == NULL || o->message_ctx == NULL) {
        return 0;
    }
    switch (operation->kind) {
    case CX_SIGN:
        return EVP_PKEY_sign_init(o->ctx) > 0;
    case CX_VERIFY:
    case CX_MESSAGE_VERIFY:
        return cx_ready_to_verify(o);
    case CX_DERIVE:
        return cx_ready_to_derive(o);
    default:
        return 1;
    }
}

static void cx_operands_end(struct cx_operands *o)
{
    EVP_MD_CTX_free(o->message_ctx);
    EVP_PKEY_CTX_free(o->ctx);
    EVP_PKEY_free(o->key);
}

static int cx_prime_once(unsigned bits)
{
    BIGNUM *prime = BN_new();
    int good = prime != NULL && BN_generate_prime_ex(prime, (int)bits, 1, NULL, NULL, NULL);

    BN_free(prime);
    return good;
}

static int cx_operate(struct cx_operands *o)
{
    uint8_t out[CX_RESULT];
    size_t length = sizeof out;

    cx_random_restart();
    switch (o->operation->kind) {
    case CX_SIGN:
    case CX_MESSAGE_SIGN:
        return cx_sign_once(o, out, &length);
    case CX_VERIFY:
        return EVP_PKEY_verify(o->ctx, o->signature, o->signature_length, o->input, CX_SIGNED) == 1;
    case CX_MESSAGE_VERIFY:
        return EVP_DigestVerifyInit(o->message_ctx, NULL, NULL, NULL, o->key)
            && EVP_DigestVerify(o->message_ctx, o->signature, o->signature_length, o->input, CX_SIGNED) == 1;
    case CX_DERIVE:
        return EVP_PKEY_derive(o->ctx, out, &length) > 0;
    case CX_PRIME:
        return cx_prime_once(o->operation->which);
    }
    return 0;
}

static int cx_operation_run(const struct cx_operation *operation, unsigned long count)
{
    struct cx_operands operands;
    int good = cx_operands_start(&operands, operation);

    for (; good && count > 0; count--) {
        good = cx_operate(&operands);
    }
    cx_operands_end(&operands);
    return good;
}

#endif
