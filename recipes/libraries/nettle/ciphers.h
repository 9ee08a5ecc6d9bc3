/* SPDX-License-Identifier: Apache-2.0 */
/* Ciphers, their modes, and AEADs. context[0] encrypts, context[1] decrypts, context[2] is the tweak's or the mode's. */
#ifndef CX_NETTLE_CIPHERS_H
#define CX_NETTLE_CIPHERS_H

#include "algorithm.h"

#include <nettle/aes.h>
#include <nettle/arcfour.h>
#include <nettle/blowfish.h>
#include <nettle/cbc.h>
#include <nettle/ccm.h>
#include <nettle/cfb.h>
#include <nettle/chacha.h>
#include <nettle/ctr.h>
#include <nettle/des.h>
#include <nettle/eax.h>
#include <nettle/salsa20.h>
#include <nettle/siv-cmac.h>
#include <nettle/xts.h>
#if CX_NETTLE(3, 8)
#include <nettle/nist-keywrap.h>
#endif
#if CX_NETTLE(3, 9)
#include <nettle/ocb.h>
#include <nettle/siv-gcm.h>
#endif

/* Weak keys are reported by the real functions; the fixed keys are what they are. */
static void des_any_key(void *context, const uint8_t *key)
{
    (void)des_set_key(context, key);
}

static void des3_any_key(void *context, const uint8_t *key)
{
    (void)des3_set_key(context, key);
}

static void blowfish_any_key(void *context, const uint8_t *key)
{
    (void)blowfish128_set_key(context, key);
}

static const struct nettle_cipher cipher_des = {
    "des", sizeof(struct des_ctx), DES_BLOCK_SIZE, DES_KEY_SIZE, des_any_key, des_any_key,
    (nettle_cipher_func *)des_encrypt, (nettle_cipher_func *)des_decrypt,
};
static const struct nettle_cipher cipher_des3 = {
    "des3", sizeof(struct des3_ctx), DES3_BLOCK_SIZE, DES3_KEY_SIZE, des3_any_key, des3_any_key,
    (nettle_cipher_func *)des3_encrypt, (nettle_cipher_func *)des3_decrypt,
};
static const struct nettle_cipher cipher_blowfish = {
    "blowfish", sizeof(struct blowfish_ctx), BLOWFISH_BLOCK_SIZE, 16, blowfish_any_key, blowfish_any_key,
    (nettle_cipher_func *)blowfish_encrypt, (nettle_cipher_func *)blowfish_decrypt,
};

static void cipher_key(struct algorithm *a)
{
    a->cipher->set_encrypt_key(a->context[0], a->key);
    a->cipher->set_decrypt_key(a->context[1], a->key);
}

static void xts_key(struct algorithm *a)
{
    cipher_key(a);
    a->cipher->set_encrypt_key(a->context[2], a->key + a->cipher->key_size);
}

#define CIPHER_WORK(name, call)                                                                            \
    static long name(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)                  \
    {                                                                                                      \
        const struct nettle_cipher *c = a->cipher;                                                         \
        const void *e = a->context[0], *d = a->context[1];                                                 \
        size_t block = c->block_size;                                                                      \
        (void)e, (void)d, (void)block;                                                                     \
        call;                                                                                              \
        return (long)length;                                                                               \
    }

CIPHER_WORK(ecb_work, c->encrypt(e, length, out, in))
CIPHER_WORK(ecb_undo, c->decrypt(d, length, out, in))
CIPHER_WORK(cbc_work, cbc_encrypt(e, c->encrypt, block, a->iv, length, out, in))
CIPHER_WORK(cbc_undo, cbc_decrypt(d, c->decrypt, block, a->iv, length, out, in))
CIPHER_WORK(ctr_work, ctr_crypt(e, c->encrypt, block, a->iv, length, out, in))
CIPHER_WORK(cfb_work, cfb_encrypt(e, c->encrypt, block, a->iv, length, out, in))
CIPHER_WORK(cfb_undo, cfb_decrypt(e, c->encrypt, block, a->iv, length, out, in))
CIPHER_WORK(cfb8_work, cfb8_encrypt(e, c->encrypt, block, a->iv, length, out, in))
CIPHER_WORK(cfb8_undo, cfb8_decrypt(e, c->encrypt, block, a->iv, length, out, in))
CIPHER_WORK(xts_work, xts_encrypt_message(e, a->context[2], c->encrypt, a->iv, length, out, in))
CIPHER_WORK(xts_undo, xts_decrypt_message(d, a->context[2], c->decrypt, c->encrypt, a->iv, length, out, in))
#if CX_NETTLE(3, 8)
/* Only these reach the assembly for CBC. */
CIPHER_WORK(cbc_aes128_work, cbc_aes128_encrypt(e, a->iv, length, out, in))
CIPHER_WORK(cbc_aes192_work, cbc_aes192_encrypt(e, a->iv, length, out, in))
CIPHER_WORK(cbc_aes256_work, cbc_aes256_encrypt(e, a->iv, length, out, in))
#endif

typedef long cipher_work(struct algorithm *, const uint8_t *, size_t, uint8_t *);

static struct algorithm *add_mode(const char *cipher_name, const char *mode, const struct nettle_cipher *cipher,
                                  cipher_work *work, cipher_work *undo)
{
    char name[48];
    struct algorithm *a;

    (void)snprintf(name, sizeof name, "%s-%s", cipher_name, mode);
    a = cx_new(name);
    cx_material(a, cipher->key_size, 0);
    cx_iv(a->name, a->first_iv, cipher->block_size);
    a->cipher = cipher;
    a->set_key = cipher_key;
    a->work = work;
    a->undo = undo;
    a->vectors.open = cx_unseal;
    a->vectors.in_place = 1;
    for (size_t i = 0; i < 3; i++) {
        a->context[i] = cx_context(cipher->context_size);
    }
    a->bulk = 1;
    return a;
}

static cipher_work *cbc_work_of(const struct nettle_cipher *cipher)
{
#if CX_NETTLE(3, 8)
    if (cipher == &nettle_aes128) {
        return cbc_aes128_work;
    }
    if (cipher == &nettle_aes192) {
        return cbc_aes192_work;
    }
    if (cipher == &nettle_aes256) {
        return cbc_aes256_work;
    }
#endif
    (void)cipher;
    return cbc_work;
}

static void add_modes(const char *name, const struct nettle_cipher *cipher)
{
    struct algorithm *a;

    add_mode(name, "ecb", cipher, ecb_work, ecb_undo)->vectors.block = cipher->block_size;
    a = add_mode(name, "cbc", cipher, cbc_work_of(cipher), cbc_undo);
    a->vectors.block = cipher->block_size;
    a->bulk_undo = 1;
    (void)add_mode(name, "ctr", cipher, ctr_work, ctr_work);
    (void)add_mode(name, "cfb", cipher, cfb_work, cfb_undo);
    add_mode(name, "cfb8", cipher, cfb8_work, cfb8_undo)->vectors.amount = CX_FEW;
    if (cipher == &nettle_aes128 || cipher == &nettle_aes256) {
        a = add_mode(name, "xts", cipher, xts_work, xts_undo);
        cx_material(a, 2 * cipher->key_size, 0);
        cx_iv(a->name, a->first_iv, cipher->block_size);
        a->set_key = xts_key;
        a->vectors.minimum = 16;
        a->bulk_undo = 1;
    }
}

/* ---- Stream ciphers ---- */

static void rc4_key(struct algorithm *a)
{
    arcfour_set_key(a->context[0], a->key_size, a->key);
}

static long rc4_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    arcfour_crypt(a->context[0], length, out, in);
    return (long)length;
}

static void chacha20_key(struct algorithm *a)
{
    static const uint8_t zero[4];

    chacha_set_key(a->context[0], a->key);
    chacha_set_nonce96(a->context[0], a->first_iv);
    chacha_set_counter32(a->context[0], zero);
}

static long chacha20_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    chacha_crypt32(a->context[0], length, out, in);
    return (long)length;
}

static void salsa20_key(struct algorithm *a)
{
    salsa20_256_set_key(a->context[0], a->key);
    salsa20_set_nonce(a->context[0], a->first_iv);
}

static long salsa20_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    salsa20_crypt(a->context[0], length, out, in);
    return (long)length;
}

static long salsa20r12_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    salsa20r12_crypt(a->context[0], length, out, in);
    return (long)length;
}

static void add_stream(const char *name, size_t key_size, size_t iv_size, size_t context_size,
                       void (*set_key)(struct algorithm *), cipher_work *work)
{
    struct algorithm *a = cx_new(name);

    cx_material(a, key_size, 0);
    cx_iv(name, a->first_iv, iv_size);
    a->set_key = set_key;
    a->work = work;
    a->undo = work;
    a->vectors.open = cx_unseal;
    a->vectors.in_place = 1;
    a->context[0] = cx_context(context_size);
    a->bulk = 1;
}

static void add_ciphers(void)
{
    add_modes("aes-128", &nettle_aes128);
    add_modes("aes-192", &nettle_aes192);
    add_modes("aes-256", &nettle_aes256);
    add_modes("camellia-128", &nettle_camellia128);
    add_modes("camellia-192", &nettle_camellia192);
    add_modes("camellia-256", &nettle_camellia256);
    add_modes("des", &cipher_des);
    add_modes("des-ede3", &cipher_des3);
    add_modes("blowfish", &cipher_blowfish);
    add_modes("cast5", &nettle_cast128);
    add_modes("rc2", &nettle_arctwo128);
    add_modes("serpent-128", &nettle_serpent128);
    add_modes("serpent-256", &nettle_serpent256);
    add_modes("twofish-128", &nettle_twofish128);
    add_modes("twofish-256", &nettle_twofish256);
#if CX_NETTLE(3, 9)
    add_modes("sm4", &nettle_sm4);
#endif
    add_stream("rc4", 16, 0, sizeof(struct arcfour_ctx), rc4_key, rc4_work);
    add_stream("chacha20", 32, 12, sizeof(struct chacha_ctx), chacha20_key, chacha20_work);
    add_stream("salsa20", 32, 8, sizeof(struct salsa20_ctx), salsa20_key, salsa20_work);
    add_stream("salsa20r12", 32, 8, sizeof(struct salsa20_ctx), salsa20_key, salsa20r12_work);
}

#endif
