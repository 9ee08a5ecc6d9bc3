/* SPDX-License-Identifier: Apache-2.0 */
/* Digests, MACs and key derivation. */
#ifndef CX_NETTLE_DIGESTS_H
#define CX_NETTLE_DIGESTS_H

#include <nettle/cmac.h>
#include <nettle/gcm.h>
#include <nettle/hkdf.h>
#include <nettle/hmac.h>
#include <nettle/pbkdf2.h>
#include <nettle/poly1305.h>
#include <nettle/sha3.h>
#include <nettle/umac.h>

#include "algorithm.h"

static long digest_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    a->hash->init(a->context[0]);
    a->hash->update(a->context[0], length, in);
    a->hash->digest(a->context[0], a->hash->digest_size, out);
    return (long)a->hash->digest_size;
}

static long shake256_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    sha3_256_init(a->context[0]);
    sha3_256_update(a->context[0], length, in);
    sha3_256_shake(a->context[0], 64, out);
    return 64;
}

#if CX_NETTLE(3, 10)
static long shake128_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    sha3_128_init(a->context[0]);
    sha3_128_update(a->context[0], length, in);
    sha3_128_shake(a->context[0], 32, out);
    return 32;
}
#endif

static void hmac_key(struct algorithm *a)
{
    hmac_set_key(a->context[0], a->context[1], a->context[2], a->hash, a->key_size, a->key);
}

static long hmac_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    hmac_update(a->context[2], a->hash, length, in);
    hmac_digest(a->context[0], a->context[1], a->context[2], a->hash, a->hash->digest_size, out);
    return (long)a->hash->digest_size;
}

static void add_digest(const struct nettle_hash *hash)
{
    struct algorithm *a = cx_new(hash->name);

    cx_dashes(a->name);
    a->hash = hash;
    a->work = digest_work;
    a->context[0] = cx_context(hash->context_size);
    a->bulk = 1;
}

static void add_hmac(const struct nettle_hash *hash)
{
    char name[48];
    struct algorithm *a;

    (void)snprintf(name, sizeof name, "hmac-%s", hash->name);
    cx_dashes(name);
    a = cx_new(name);
    cx_material(a, 32, 0);
    a->hash = hash;
    a->set_key = hmac_key;
    a->work = hmac_work;
    for (size_t i = 0; i < 3; i++) {
        a->context[i] = cx_context(hash->context_size);
    }
    a->bulk = 1;
}

static void add_digests(void)
{
    const struct nettle_hash *const *hashes = nettle_get_hashes();
    struct algorithm *a;

    for (size_t i = 0; hashes[i] != NULL; i++) {
        add_digest(hashes[i]);
    }
    a = cx_new("shake256");
    a->work = shake256_work;
    a->context[0] = cx_context(sizeof(struct sha3_256_ctx));
    a->bulk = 1;
#if CX_NETTLE(3, 10)
    a = cx_new("shake128");
    a->work = shake128_work;
    a->context[0] = cx_context(sizeof(struct sha3_128_ctx));
    a->bulk = 1;
#endif
    for (size_t i = 0; hashes[i] != NULL; i++) {
        add_hmac(hashes[i]);
    }
}

/* ---- CMAC: context[0] the cipher, context[1] key and state ---- */

struct cmac_wide {
    struct cmac128_key key;
    struct cmac128_ctx state;
};

static void cmac_key(struct algorithm *a)
{
    struct cmac_wide *mac = a->context[1];

    a->cipher->set_encrypt_key(a->context[0], a->key);
    cmac128_set_key(&mac->key, a->context[0], a->cipher->encrypt);
    cmac128_init(&mac->state);
}

static long cmac_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    struct cmac_wide *mac = a->context[1];

    cmac128_update(&mac->state, a->context[0], a->cipher->encrypt, length, in);
    cmac128_digest(&mac->state, &mac->key, a->context[0], a->cipher->encrypt, CX_TAG, out);
    return CX_TAG;
}

static void cmac_des3_key(struct algorithm *a)
{
    cmac_des3_set_key(a->context[0], a->key);
}

static long cmac_des3_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    cmac_des3_update(a->context[0], length, in);
    cmac_des3_digest(a->context[0], 8, out);
    return 8;
}

static void add_cmac(const char *name, const struct nettle_cipher *cipher)
{
    struct algorithm *a = cx_new(name);

    cx_material(a, cipher->key_size, 0);
    a->cipher = cipher;
    a->set_key = cmac_key;
    a->work = cmac_work;
    a->context[0] = cx_context(cipher->context_size);
    a->context[1] = cx_context(sizeof(struct cmac_wide));
    a->bulk = 1;
}

static void add_cmacs(void)
{
    struct algorithm *a;

    add_cmac("cmac-aes-128", &nettle_aes128);
    add_cmac("cmac-aes-192", &nettle_aes192);
    add_cmac("cmac-aes-256", &nettle_aes256);
    add_cmac("cmac-camellia-128", &nettle_camellia128);
    add_cmac("cmac-camellia-192", &nettle_camellia192);
    add_cmac("cmac-camellia-256", &nettle_camellia256);
    a = cx_new("cmac-des-ede3");
    cx_material(a, 24, 0);
    a->set_key = cmac_des3_key;
    a->work = cmac_des3_work;
    a->context[0] = cx_context(sizeof(struct cmac_des3_ctx));
    a->bulk = 1;
}

/* ---- GMAC, Poly1305, UMAC ---- */

static void aead_key(struct algorithm *a)
{
    a->aead->set_encrypt_key(a->context[0], a->key);
}

static long gmac_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    a->aead->set_nonce(a->context[0], a->first_iv);
    a->aead->update(a->context[0], length, in);
    a->aead->digest(a->context[0], CX_TAG, out);
    return CX_TAG;
}

static void add_gmac(const char *name, const struct nettle_aead *aead)
{
    struct algorithm *a = cx_new(name);

    cx_material(a, aead->key_size, aead->nonce_size);
    a->aead = aead;
    a->set_key = aead_key;
    a->work = gmac_work;
    a->context[0] = cx_context(aead->context_size);
    a->bulk = 1;
}

/* nettle has Poly1305 only with AES around it: tag = poly1305(r, input) + AES(k, nonce). For the one-time key (r, s) take
 * any k and the nonce that AES turns into s. */
static void poly1305_key(struct algorithm *a)
{
    struct aes128_ctx decrypt;
    uint8_t key[32] = {0};

    aes128_set_decrypt_key(&decrypt, key);
    aes128_decrypt(&decrypt, 16, a->first_iv, a->key + 16);
    memcpy(key + 16, a->key, 16);
    poly1305_aes_set_key(a->context[0], key);
}

static void poly1305_aes_key(struct algorithm *a)
{
    poly1305_aes_set_key(a->context[0], a->key);
}

static long poly1305_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    poly1305_aes_set_nonce(a->context[0], a->first_iv);
    poly1305_aes_update(a->context[0], length, in);
    poly1305_aes_digest(a->context[0], CX_TAG, out);
    return CX_TAG;
}

static void add_poly1305(const char *name, void (*set_key)(struct algorithm *), size_t nonce_size)
{
    struct algorithm *a = cx_new(name);

    cx_material(a, 32, nonce_size);
    a->set_key = set_key;
    a->work = poly1305_work;
    a->context[0] = cx_context(sizeof(struct poly1305_aes_ctx));
    a->bulk = 1;
}

#define UMAC(bits)                                                                                               \
    static void umac##bits##_key(struct algorithm *a)                                                            \
    {                                                                                                            \
        umac##bits##_set_key(a->context[0], a->key);                                                             \
    }                                                                                                            \
    static long umac##bits##_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)           \
    {                                                                                                            \
        umac##bits##_set_nonce(a->context[0], 8, a->first_iv);                                                   \
        umac##bits##_update(a->context[0], length, in);                                                          \
        umac##bits##_digest(a->context[0], (bits) / 8, out);                                                     \
        return (bits) / 8;                                                                                       \
    }                                                                                                            \
    static void add_umac##bits(void)                                                                             \
    {                                                                                                            \
        struct algorithm *a = cx_new("umac-" #bits);                                                             \
        cx_material(a, 16, 8);                                                                                   \
        a->set_key = umac##bits##_key;                                                                           \
        a->work = umac##bits##_work;                                                                             \
        a->context[0] = cx_context(sizeof(struct umac##bits##_ctx));                                             \
        a->bulk = 1;                                                                                             \
    }

UMAC(32)
UMAC(64)
UMAC(96)
UMAC(128)

/* ---- Key derivation: context[0] is HMAC's, as hmac.h lays it out: outer, inner, state ---- */

#define DERIVATION(digest, size)                                                                                  \
    static long hkdf_##digest##_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)         \
    {                                                                                                             \
        struct hmac_##digest##_ctx *mac = a->context[0];                                                          \
        uint8_t secret[size];                                                                                     \
        hmac_##digest##_set_key(mac, 16, a->first_iv);                                                            \
        hkdf_extract(mac, (nettle_hash_update_func *)hmac_##digest##_update,                                      \
                     (nettle_hash_digest_func *)hmac_##digest##_digest, size, length, in, secret);                \
        hmac_##digest##_set_key(mac, size, secret);                                                               \
        hkdf_expand(mac, (nettle_hash_update_func *)hmac_##digest##_update,                                       \
                    (nettle_hash_digest_func *)hmac_##digest##_digest, size, CX_AAD, a->aad, 64, out);            \
        return 64;                                                                                                \
    }                                                                                                             \
    static long pbkdf2_##digest##_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)       \
    {                                                                                                             \
        struct hmac_##digest##_ctx *mac = a->context[0];                                                          \
        hmac_##digest##_set_key(mac, length, in);                                                                 \
        PBKDF2(mac, hmac_##digest##_update, hmac_##digest##_digest, size, 10, 16, a->first_iv, 64, out);          \
        return 64;                                                                                                \
    }                                                                                                             \
    static void add_derivation_##digest(void)                                                                     \
    {                                                                                                             \
        add_derivation("hkdf-" #digest, hkdf_##digest##_work, sizeof(struct hmac_##digest##_ctx));                \
        add_derivation("pbkdf2-" #digest, pbkdf2_##digest##_work, sizeof(struct hmac_##digest##_ctx));            \
    }

static void add_derivation(const char *name, long (*work)(struct algorithm *, const uint8_t *, size_t, uint8_t *),
                           size_t context_size)
{
    struct algorithm *a = cx_new(name);

    cx_part(name, "salt", a->first_iv, 16);
    cx_part(name, "info", a->aad, CX_AAD);
    a->work = work;
    a->context[0] = cx_context(context_size);
    a->vectors.minimum = 1;
    a->vectors.amount = CX_FEW;
}

/* The truncated ones use the contexts of the whole ones. */
#define hmac_sha224_ctx hmac_sha256_ctx
#define hmac_sha384_ctx hmac_sha512_ctx

DERIVATION(md5, 16)
DERIVATION(sha1, 20)
DERIVATION(sha224, 28)
DERIVATION(sha256, 32)
DERIVATION(sha384, 48)
DERIVATION(sha512, 64)

static void add_macs_and_derivations(void)
{
    add_cmacs();
    add_gmac("gmac-aes-128", &nettle_gcm_aes128);
    add_gmac("gmac-aes-192", &nettle_gcm_aes192);
    add_gmac("gmac-aes-256", &nettle_gcm_aes256);
    add_poly1305("poly1305", poly1305_key, 0);
    add_poly1305("poly1305-aes", poly1305_aes_key, 16);
    add_umac32();
    add_umac64();
    add_umac96();
    add_umac128();
    add_derivation_md5();
    add_derivation_sha1();
    add_derivation_sha224();
    add_derivation_sha256();
    add_derivation_sha384();
    add_derivation_sha512();
}

#endif
