/* SPDX-License-Identifier: Apache-2.0 */
/* What `bench` measures. Set-up is done once, COUNT pieces or operations follow: the slope over COUNT has no set-up. */
#ifndef CX_OPENSSL_BENCH_H
#define CX_OPENSSL_BENCH_H

#include <openssl/hmac.h>
#include <openssl/modes.h>

#include "support.h"
#include "vectors_digests.h"

enum { CX_TLS_AAD = 13, CX_SIGNED = 32, CX_RESULT = 1024 };

/* What a piece reads and writes; as long as the longest piece and aligned like malloc's memory. */
struct cx_piece {
    uint8_t *data;
    size_t size;
};

/* ---------------------------------------------------------------------------------------------------------------- */
/* Bulk algorithms. `theirs` is a name that 1.1.1 and 3.x both know.                                                  */

enum cx_bulk_kind { CX_DIGEST, CX_HMAC, CX_MAC, CX_ENCRYPT, CX_DECRYPT, CX_SEAL, CX_GHASH };

struct cx_bulk {
    const char *name;
    enum cx_bulk_kind kind;
    const char *theirs;
};

static const struct cx_bulk cx_bulks[] = {
    {"md5", CX_DIGEST, "MD5"},
    {"ripemd160", CX_DIGEST, "RIPEMD160"},
    {"whirlpool", CX_DIGEST, "WHIRLPOOL"},
    {"sha1", CX_DIGEST, "SHA1"},
    {"sha256", CX_DIGEST, "SHA256"},
    {"sha512", CX_DIGEST, "SHA512"},
    {"sha3-256", CX_DIGEST, "SHA3-256"},
    {"sha3-512", CX_DIGEST, "SHA3-512"},
    {"blake2b-512", CX_DIGEST, "BLAKE2b512"},
    {"blake2s-256", CX_DIGEST, "BLAKE2s256"},
    {"sm3", CX_DIGEST, "SM3"},
    {"hmac-md5", CX_HMAC, "MD5"},
    {"hmac-sha1", CX_HMAC, "SHA1"},
    {"hmac-sha256", CX_HMAC, "SHA256"},
    {"hmac-sha512", CX_HMAC, "SHA512"},
    {"cmac-aes-128", CX_MAC, NULL},
    {"cmac-aes-256", CX_MAC, NULL},
    {"gmac-aes-128", CX_MAC, NULL},
    {"gmac-aes-256", CX_MAC, NULL},
    {"poly1305", CX_MAC, NULL},
    {"siphash-2-4", CX_MAC, NULL},
    {"ghash", CX_GHASH, NULL},
    {"rc4", CX_ENCRYPT, "RC4"},
    {"des-ede3-cbc", CX_ENCRYPT, "DES-EDE3-CBC"},
    {"blowfish-cbc", CX_ENCRYPT, "BF-CBC"},
    {"cast5-cbc", CX_ENCRYPT, "CAST5-CBC"},
    {"aes-128-ecb", CX_ENCRYPT, "AES-128-ECB"},
    {"aes-256-ecb", CX_ENCRYPT, "AES-256-ECB"},
    {"aes-128-cbc", CX_ENCRYPT, "AES-128-CBC"},
    {"aes-192-cbc", CX_ENCRYPT, "AES-192-CBC"},
    {"aes-256-cbc", CX_ENCRYPT, "AES-256-CBC"},
    {"aes-128-cbc-decrypt", CX_DECRYPT, "AES-128-CBC"},
    {"aes-256-cbc-decrypt", CX_DECRYPT, "AES-256-CBC"},
    {"aes-128-ctr", CX_ENCRYPT, "AES-128-CTR"},
    {"aes-192-ctr", CX_ENCRYPT, "AES-192-CTR"},
    {"aes-256-ctr", CX_ENCRYPT, "AES-256-CTR"},
    {"aes-128-xts", CX_ENCRYPT, "AES-128-XTS"},
    {"aes-256-xts", CX_ENCRYPT, "AES-256-XTS"},
    {"aes-256-xts-decrypt", CX_DECRYPT, "AES-256-XTS"},
    {"camellia-128-cbc", CX_ENCRYPT, "CAMELLIA-128-CBC"},
    {"camellia-256-cbc", CX_ENCRYPT, "CAMELLIA-256-CBC"},
    {"aria-128-ctr", CX_ENCRYPT, "ARIA-128-CTR"},
    {"sm4-cbc", CX_ENCRYPT, "SM4-CBC"},
    {"sm4-ctr", CX_ENCRYPT, "SM4-CTR"},
    {"chacha20", CX_ENCRYPT, "CHACHA20"},
    {"aes-128-gcm", CX_SEAL, "id-aes128-GCM"},
    {"aes-192-gcm", CX_SEAL, "id-aes192-GCM"},
    {"aes-256-gcm", CX_SEAL, "id-aes256-GCM"},
    {"aes-128-ccm", CX_SEAL, "id-aes128-CCM"},
    {"aes-256-ccm", CX_SEAL, "id-aes256-CCM"},
    {"aes-128-ocb", CX_SEAL, "AES-128-OCB"},
    {"aes-256-ocb", CX_SEAL, "AES-256-OCB"},
    {"chacha20-poly1305", CX_SEAL, "ChaCha20-Poly1305"},
};

enum { CX_BULKS = sizeof cx_bulks / sizeof cx_bulks[0] };

static int cx_bench_digest(const struct cx_bulk *bulk, const struct cx_piece *piece, unsigned long count)
{
    CX_METHOD EVP_MD *digest = cx_digest(bulk->theirs);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    uint8_t out[EVP_MAX_MD_SIZE];
    int good = digest != NULL && ctx != NULL;

    for (; good && count > 0; count--) {
        good = EVP_DigestInit_ex(ctx, digest, NULL) && EVP_DigestUpdate(ctx, piece->data, piece->size)
            && EVP_DigestFinal_ex(ctx, out, NULL);
    }
    EVP_MD_CTX_free(ctx);
    cx_digest_free(digest);
    return good;
}

static int cx_bench_hmac(const struct cx_bulk *bulk, const struct cx_piece *piece, unsigned long count)
{
    HMAC_CTX *ctx = HMAC_CTX_new();
    uint8_t key[CX_MAC_KEY], out[EVP_MAX_MD_SIZE];
    int good;

    cx_part(bulk->name, "key", key, sizeof key);
    good = ctx != NULL && HMAC_Init_ex(ctx, key, sizeof key, EVP_get_digestbyname(bulk->theirs), NULL);
    for (; good && count > 0; count--) {
        good = HMAC_Init_ex(ctx, NULL, 0, NULL, NULL) && HMAC_Update(ctx, piece->data, piece->size)
            && HMAC_Final(ctx, out, NULL);
    }
    HMAC_CTX_free(ctx);
    return good;
}

static const struct cx_mac *cx_mac_named(const char *name)
{
    for (size_t i = 0; i < sizeof cx_macs / sizeof cx_macs[0]; i++) {
        if (strcmp(cx_macs[i].name, name) == 0) {
            return &cx_macs[i];
        }
    }
    return NULL;
}

static int cx_bench_mac(const struct cx_bulk *bulk, const struct cx_piece *piece, unsigned long count)
{
    struct cx_mac_context c = {.mac = cx_mac_named(bulk->name)};
    uint8_t out[CX_RESULT];
    int good;

    cx_part(bulk->name, "key", c.key, c.mac->key_length);
    cx_part(bulk->name, "nonce", c.nonce, sizeof c.nonce);
    c.keyed = cx_mac_new(&c);
    good = c.keyed != NULL;
    for (; good && count > 0; count--) {
        good = cx_mac_seal(&c, piece->data, piece->size, out) > 0;
    }
    cx_mac_free(c.keyed);
    return good;
}

static int cx_bench_cipher(const struct cx_bulk *bulk, const struct cx_piece *piece, unsigned long count)
{
    CX_METHOD EVP_CIPHER *cipher = cx_cipher(bulk->theirs);
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    uint8_t key[EVP_MAX_KEY_LENGTH], iv[EVP_MAX_IV_LENGTH];
    int n, good;

    cx_part(bulk->name, "key", key, sizeof key);
    cx_part(bulk->name, "iv", iv, sizeof iv);
    good = ctx != NULL && cipher != NULL && EVP_CipherInit_ex(ctx, cipher, NULL, key, iv, bulk->kind == CX_ENCRYPT)
        && EVP_CIPHER_CTX_set_padding(ctx, 0);
    for (; good && count > 0; count--) {
        good = EVP_CipherUpdate(ctx, piece->data, &n, piece->data, (int)piece->size);
    }
    EVP_CIPHER_CTX_free(ctx);
    cx_cipher_free(cipher);
    return good;
}

/* Nonce, associated data, the bytes, the tag. */
static int cx_bench_seal_piece(EVP_CIPHER_CTX *ctx, const struct cx_piece *piece, const uint8_t *nonce, int ccm)
{
    uint8_t aad[CX_TLS_AAD] = {0}, tag[CX_TAG];
    int n;

    return (!ccm || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, CX_TAG, NULL))
        && EVP_EncryptInit_ex(ctx, NULL, NULL, NULL, nonce)
        && (!ccm || EVP_EncryptUpdate(ctx, NULL, &n, NULL, (int)piece->size))
        && EVP_EncryptUpdate(ctx, NULL, &n, aad, CX_TLS_AAD)
        && EVP_EncryptUpdate(ctx, piece->data, &n, piece->data, (int)piece->size)
        && EVP_EncryptFinal_ex(ctx, piece->data + n, &n) && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, CX_TAG, tag);
}

static int cx_bench_seal(const struct cx_bulk *bulk, const struct cx_piece *piece, unsigned long count)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    CX_METHOD EVP_CIPHER *cipher = cx_cipher(bulk->theirs);
    uint8_t key[EVP_MAX_KEY_LENGTH], nonce[CX_NONCE];
    int ccm = cx_ends(bulk->name, "-ccm"), good;

    cx_part(bulk->name, "key", key, sizeof key);
    cx_part(bulk->name, "nonce", nonce, sizeof nonce);
    good = ctx != NULL && cipher != NULL && EVP_EncryptInit_ex(ctx, cipher, NULL, NULL, NULL)
        && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, CX_NONCE, NULL)
        && (!ccm || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, CX_TAG, NULL))
        && EVP_EncryptInit_ex(ctx, NULL, NULL, key, nonce);
    for (; good && count > 0; count--) {
        good = cx_bench_seal_piece(ctx, piece, nonce, ccm);
    }
    EVP_CIPHER_CTX_free(ctx);
    cx_cipher_free(cipher);
    return good;
}

/* Stands for the block cipher, which is not what is measured. */
static void cx_no_cipher(const unsigned char in[16], unsigned char out[16], const void *key)
{
    for (size_t i = 0; i < 16; i++) {
        out[i] = in[i] ^ ((const uint8_t *)key)[i];
    }
}

static int cx_bench_ghash(const struct cx_bulk *bulk, const struct cx_piece *piece, unsigned long count)
{
    uint8_t key[16], nonce[CX_NONCE], tag[CX_TAG];
    GCM128_CONTEXT *ctx;
    int good;

    cx_part(bulk->name, "key", key, sizeof key);
    cx_part(bulk->name, "nonce", nonce, sizeof nonce);
    ctx = CRYPTO_gcm128_new(key, cx_no_cipher);
    good = ctx != NULL;
    for (; good && count > 0; count--) {
        CRYPTO_gcm128_setiv(ctx, nonce, sizeof nonce);
        good = CRYPTO_gcm128_aad(ctx, piece->data, piece->size) == 0;
        CRYPTO_gcm128_tag(ctx, tag, sizeof tag);
    }
    CRYPTO_gcm128_release(ctx);
    return good;
}

static int cx_bulk_run(const struct cx_bulk *bulk, const struct cx_piece *piece, unsigned long count)
{
    switch (bulk->kind) {
    case CX_DIGEST:
        return cx_bench_digest(bulk, piece, count);
    case CX_HMAC:
        return cx_bench_hmac(bulk, piece, count);
    case CX_MAC:
        return cx_bench_mac(bulk, piece, count);
    case CX_SEAL:
        return cx_bench_seal(bulk, piece, count);
    case CX_GHASH:
        return cx_bench_ghash(bulk, piece, count);
    case CX_ENCRYPT:
    case CX_DECRYPT:
        return cx_bench_cipher(bulk, piece, count);
    }
    return 0;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Operations                                                                                                         */

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

/* ---------------------------------------------------------------------------------------------------------------- */
/* The two modes                                                                                                      */

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
