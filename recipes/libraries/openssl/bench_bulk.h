/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk algorithms that `bench` measures: digests, MACs, ciphers, AEADs. */
#ifndef CX_OPENSSL_BENCH_BULK_H
#define CX_OPENSSL_BENCH_BULK_H

#include <openssl/hmac.h>
#include <openssl/modes.h>

#include "support.h"
#include "vectors_digests.h"

enum { CX_TLS_AAD = 13 };

/* What a piece reads and writes; as long as the longest piece and aligned like malloc's memory. */
struct cx_piece {
    uint8_t *data;
    size_t size;
};

enum cx_bulk_kind { CX_DIGEST, CX_HMAC, CX_MAC, CX_ENCRYPT, CX_DECRYPT, CX_SEAL, CX_OPEN, CX_GHASH };

struct cx_bulk {
    const char *name;
    enum cx_bulk_kind kind;
    const char *theirs; /* a name that 1.1.1 and 3.x both know */
};

static const struct cx_bulk cx_bulks[] = {
    {"md4", CX_DIGEST, "MD4"},
    {"md5", CX_DIGEST, "MD5"},
    {"mdc2", CX_DIGEST, "MDC2"},
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
    {"des-cbc", CX_ENCRYPT, "DES-CBC"},
    {"des-ede3-cbc", CX_ENCRYPT, "DES-EDE3-CBC"},
    {"blowfish-cbc", CX_ENCRYPT, "BF-CBC"},
    {"cast5-cbc", CX_ENCRYPT, "CAST5-CBC"},
    {"idea-cbc", CX_ENCRYPT, "IDEA-CBC"},
    {"seed-cbc", CX_ENCRYPT, "SEED-CBC"},
    {"rc2-cbc", CX_ENCRYPT, "RC2-CBC"},
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
    {"camellia-192-cbc", CX_ENCRYPT, "CAMELLIA-192-CBC"},
    {"camellia-256-cbc", CX_ENCRYPT, "CAMELLIA-256-CBC"},
    {"aria-128-ctr", CX_ENCRYPT, "ARIA-128-CTR"},
    {"sm4-cbc", CX_ENCRYPT, "SM4-CBC"},
    {"sm4-ctr", CX_ENCRYPT, "SM4-CTR"},
    {"chacha20", CX_ENCRYPT, "CHACHA20"},
    {"aes-128-gcm", CX_SEAL, "id-aes128-GCM"},
    {"aes-192-gcm", CX_SEAL, "id-aes192-GCM"},
    {"aes-256-gcm", CX_SEAL, "id-aes256-GCM"},
    {"aes-128-gcm-decrypt", CX_OPEN, "id-aes128-GCM"},
    {"aes-192-gcm-decrypt", CX_OPEN, "id-aes192-GCM"},
    {"aes-256-gcm-decrypt", CX_OPEN, "id-aes256-GCM"},
    {"aes-128-ccm", CX_SEAL, "id-aes128-CCM"},
    {"aes-256-ccm", CX_SEAL, "id-aes256-CCM"},
    {"aes-128-ocb", CX_SEAL, "AES-128-OCB"},
    {"aes-256-ocb", CX_SEAL, "AES-256-OCB"},
    {"chacha20-poly1305", CX_SEAL, "ChaCha20-Poly1305"},
    {"chacha20-poly1305-decrypt", CX_OPEN, "ChaCha20-Poly1305"},
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
    uint8_t out[CX_ROOM];
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

/* A context of an AEAD with its key and the length of its nonce. NULL where the build lacks it. */
static EVP_CIPHER_CTX *cx_aead_new(const struct cx_bulk *bulk, const uint8_t *nonce, int ccm, int encrypt)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    CX_METHOD EVP_CIPHER *cipher = cx_cipher(bulk->theirs);
    uint8_t key[EVP_MAX_KEY_LENGTH];
    int good;

    cx_part(bulk->name, "key", key, sizeof key);
    good = ctx != NULL && cipher != NULL && EVP_CipherInit_ex(ctx, cipher, NULL, NULL, NULL, encrypt)
        && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, CX_NONCE, NULL)
        && (!ccm || EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, CX_TAG, NULL))
        && EVP_CipherInit_ex(ctx, NULL, NULL, key, nonce, encrypt);
    cx_cipher_free(cipher);
    if (!good) {
        EVP_CIPHER_CTX_free(ctx);
        return NULL;
    }
    return ctx;
}

/* Nonce, associated data, the bytes, the tag. */
static int cx_bench_seal_piece(EVP_CIPHER_CTX *ctx, const struct cx_piece *piece, const uint8_t *nonce, int ccm,
                               uint8_t *tag)
{
    uint8_t aad[CX_TLS_AAD] = {0};
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
    int ccm = cx_ends(bulk->name, "-ccm"), good;
    uint8_t nonce[CX_NONCE], tag[CX_TAG];
    EVP_CIPHER_CTX *ctx;

    cx_part(bulk->name, "nonce", nonce, sizeof nonce);
    ctx = cx_aead_new(bulk, nonce, ccm, 1);
    good = ctx != NULL;
    for (; good && count > 0; count--) {
        good = cx_bench_seal_piece(ctx, piece, nonce, ccm, tag);
    }
    EVP_CIPHER_CTX_free(ctx);
    return good;
}

/* As sealing, with the tag checked. What was sealed stays as it is, so that each piece opens. */
static int cx_bench_open_piece(EVP_CIPHER_CTX *ctx, const struct cx_piece *piece, const uint8_t *nonce, uint8_t *tag,
                               uint8_t *out)
{
    uint8_t aad[CX_TLS_AAD] = {0};
    int n;

    return EVP_DecryptInit_ex(ctx, NULL, NULL, NULL, nonce)
        && EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, CX_TAG, tag)
        && EVP_DecryptUpdate(ctx, NULL, &n, aad, CX_TLS_AAD)
        && EVP_DecryptUpdate(ctx, out, &n, piece->data, (int)piece->size) && EVP_DecryptFinal_ex(ctx, out + n, &n);
}

static int cx_bench_open(const struct cx_bulk *bulk, const struct cx_piece *piece, unsigned long count)
{
    uint8_t nonce[CX_NONCE], tag[CX_TAG], *out = malloc(piece->size + EVP_MAX_BLOCK_LENGTH);
    EVP_CIPHER_CTX *sealer, *opener;
    int good;

    cx_part(bulk->name, "nonce", nonce, sizeof nonce);
    sealer = cx_aead_new(bulk, nonce, 0, 1);
    opener = cx_aead_new(bulk, nonce, 0, 0);
    good = out != NULL && sealer != NULL && opener != NULL && cx_bench_seal_piece(sealer, piece, nonce, 0, tag);
    for (; good && count > 0; count--) {
        good = cx_bench_open_piece(opener, piece, nonce, tag, out);
    }
    EVP_CIPHER_CTX_free(opener);
    EVP_CIPHER_CTX_free(sealer);
    free(out);
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
    case CX_OPEN:
        return cx_bench_open(bulk, piece, count);
    case CX_GHASH:
        return cx_bench_ghash(bulk, piece, count);
    case CX_ENCRYPT:
    case CX_DECRYPT:
        return cx_bench_cipher(bulk, piece, count);
    }
    return 0;
}

#endif
