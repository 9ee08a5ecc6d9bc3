/* SPDX-License-Identifier: Apache-2.0 */
/* AEADs and key wrapping. Output: ciphertext, then tag. */
#ifndef CX_NETTLE_AEADS_H
#define CX_NETTLE_AEADS_H

#include <nettle/memops.h>

#include "ciphers.h"
#include "digests.h"

static struct algorithm *add_aead_by(const char *name, size_t key_size, size_t context_size,
                                     void (*set_key)(struct algorithm *), cipher_work *work, cipher_work *undo)
{
    struct algorithm *a = cx_new(name);

    cx_material(a, key_size, 12);
    a->set_key = set_key;
    a->work = work;
    a->undo = undo;
    a->vectors.open = cx_unseal;
    a->vectors.in_place = 1;
    a->vectors.authenticated = 1;
    for (size_t i = 0; i < 3; i++) {
        a->context[i] = cx_context(context_size);
    }
    a->bulk = 1;
    return a;
}

/* ---- What nettle offers through its own table: GCM and ChaCha20-Poly1305 ---- */

static long aead_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    a->aead->set_nonce(a->context[0], a->first_iv);
    a->aead->update(a->context[0], a->aad_size, a->aad);
    a->aead->encrypt(a->context[0], length, out, in);
    a->aead->digest(a->context[0], CX_TAG, out + length);
    return (long)length + CX_TAG;
}

static long aead_undo(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    uint8_t tag[CX_TAG], expected[CX_TAG];

    if (length < CX_TAG) {
        return -1;
    }
    length -= CX_TAG;
    memcpy(expected, in + length, CX_TAG);
    a->aead->set_nonce(a->context[0], a->first_iv);
    a->aead->update(a->context[0], a->aad_size, a->aad);
    a->aead->decrypt(a->context[0], length, out, in);
    a->aead->digest(a->context[0], CX_TAG, tag);
    return memeql_sec(tag, expected, CX_TAG) ? (long)length : -1;
}

static void add_table_aeads(void)
{
    static const char *const names[][2] = {
        {"gcm_aes128", "aes-128-gcm"},           {"gcm_aes192", "aes-192-gcm"},
        {"gcm_aes256", "aes-256-gcm"},           {"gcm_camellia128", "camellia-128-gcm"},
        {"gcm_camellia256", "camellia-256-gcm"}, {"gcm_sm4", "sm4-gcm"},
        {"chacha_poly1305", "chacha20-poly1305"},
    };
    const struct nettle_aead *const *aeads = nettle_get_aeads();
    struct algorithm *a;

    for (size_t i = 0; aeads[i] != NULL; i++) {
        for (size_t n = 0; n < sizeof names / sizeof names[0]; n++) {
            if (strcmp(aeads[i]->name, names[n][0]) == 0) {
                a = add_aead_by(names[n][1], aeads[i]->key_size, aeads[i]->context_size, aead_key, aead_work,
                                aead_undo);
                a->aead = aeads[i];
                a->bulk_undo = 1;
            }
        }
    }
}

/* ---- EAX: context[2] holds key and state ---- */

struct eax_both {
    struct eax_key key;
    struct eax_ctx state;
};

static void eax_any_key(struct algorithm *a)
{
    struct eax_both *eax = a->context[2];

    a->cipher->set_encrypt_key(a->context[0], a->key);
    eax_set_key(&eax->key, a->context[0], a->cipher->encrypt);
}

static long eax_do(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out, uint8_t *tag, int seal)
{
    struct eax_both *eax = a->context[2];
    nettle_cipher_func *f = a->cipher->encrypt;

    eax_set_nonce(&eax->state, &eax->key, a->context[0], f, 12, a->first_iv);
    eax_update(&eax->state, &eax->key, a->context[0], f, a->aad_size, a->aad);
    (seal ? eax_encrypt : eax_decrypt)(&eax->state, &eax->key, a->context[0], f, length, out, in);
    eax_digest(&eax->state, &eax->key, a->context[0], f, CX_TAG, tag);
    return (long)length;
}

static long eax_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    return eax_do(a, in, length, out, out + length, 1) + CX_TAG;
}

static long eax_undo(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    uint8_t tag[CX_TAG], expected[CX_TAG];

    if (length < CX_TAG) {
        return -1;
    }
    memcpy(expected, in + length - CX_TAG, CX_TAG);
    (void)eax_do(a, in, length - CX_TAG, out, tag, 0);
    return memeql_sec(tag, expected, CX_TAG) ? (long)length - CX_TAG : -1;
}

/* ---- CCM ---- */

static long ccm_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    ccm_encrypt_message(a->context[0], a->cipher->encrypt, 12, a->first_iv, a->aad_size, a->aad, CX_TAG,
                        length + CX_TAG, out, in);
    return (long)length + CX_TAG;
}

static long ccm_undo(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    return length >= CX_TAG
            && ccm_decrypt_message(a->context[0], a->cipher->encrypt, 12, a->first_iv, a->aad_size, a->aad, CX_TAG,
                                   length - CX_TAG, out, in)
        ? (long)length - CX_TAG
        : -1;
}

static void add_cipher_aead(const char *name, const struct nettle_cipher *cipher, size_t mode_size,
                            void (*set_key)(struct algorithm *), cipher_work *work, cipher_work *undo)
{
    size_t size = cipher->context_size > mode_size ? cipher->context_size : mode_size;

    add_aead_by(name, cipher->key_size, size, set_key, work, undo)->cipher = cipher;
}

/* ---- SIV: nettle puts the tag first; the common order has it last ---- */

#define SIV(bits)                                                                                                   \
    static void siv##bits##_key(struct algorithm *a)                                                                \
    {                                                                                                               \
        siv_cmac_aes##bits##_set_key(a->context[0], a->key);                                                        \
    }                                                                                                               \
    static long siv##bits##_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)               \
    {                                                                                                               \
        uint8_t tag[CX_TAG];                                                                                        \
        siv_cmac_aes##bits##_encrypt_message(a->context[0], 12, a->first_iv, a->aad_size, a->aad, length + CX_TAG,  \
                                             out, in);                                                              \
        memcpy(tag, out, CX_TAG);                                                                                   \
        memmove(out, out + CX_TAG, length);                                                                         \
        memcpy(out + length, tag, CX_TAG);                                                                          \
        return (long)length + CX_TAG;                                                                               \
    }                                                                                                               \
    static long siv##bits##_undo(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)               \
    {                                                                                                               \
        static uint8_t sealed[CX_LONGEST + CX_ROOM];                                                                \
        if (length < CX_TAG || length > sizeof sealed) {                                                            \
            return -1;                                                                                              \
        }                                                                                                           \
        length -= CX_TAG;                                                                                           \
        memcpy(sealed, in + length, CX_TAG);                                                                        \
        memcpy(sealed + CX_TAG, in, length);                                                                        \
        return siv_cmac_aes##bits##_decrypt_message(a->context[0], 12, a->first_iv, a->aad_size, a->aad, length,    \
                                                    out, sealed)                                                    \
            ? (long)length                                                                                          \
            : -1;                                                                                                   \
    }                                                                                                               \
    static void add_siv##bits(void)                                                                                 \
    {                                                                                                               \
        struct algorithm *a = add_aead_by("aes-" #bits "-siv", 2 * (bits) / 8,                                      \
                                          sizeof(struct siv_cmac_aes##bits##_ctx), siv##bits##_key,                 \
                                          siv##bits##_work, siv##bits##_undo);                                      \
        a->vectors.minimum = 1;                                                                                     \
        a->vectors.in_place = 0;                                                                                    \
    }

SIV(128)
SIV(256)

#if CX_NETTLE(3, 9)
/* ---- OCB: context[2] holds the mode's key ---- */

static void ocb_any_key(struct algorithm *a)
{
    cipher_key(a);
    ocb_set_key(a->context[2], a->context[0], a->cipher->encrypt);
}

static long ocb_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    ocb_encrypt_message(a->context[2], a->context[0], a->cipher->encrypt, 12, a->first_iv, a->aad_size, a->aad, CX_TAG,
                        length + CX_TAG, out, in);
    return (long)length + CX_TAG;
}

static long ocb_undo(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    return length >= CX_TAG
            && ocb_decrypt_message(a->context[2], a->context[0], a->cipher->encrypt, a->context[1], a->cipher->decrypt,
                                   12, a->first_iv, a->aad_size, a->aad, CX_TAG, length - CX_TAG, out, in)
        ? (long)length - CX_TAG
        : -1;
}

#define GCM_SIV(bits)                                                                                               \
    static void gcm_siv##bits##_key(struct algorithm *a)                                                            \
    {                                                                                                               \
        aes##bits##_set_encrypt_key(a->context[0], a->key);                                                         \
    }                                                                                                               \
    static long gcm_siv##bits##_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)           \
    {                                                                                                               \
        siv_gcm_aes##bits##_encrypt_message(a->context[0], 12, a->first_iv, a->aad_size, a->aad, length + CX_TAG,   \
                                            out, in);                                                               \
        return (long)length + CX_TAG;                                                                               \
    }                                                                                                               \
    static long gcm_siv##bits##_undo(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)           \
    {                                                                                                               \
        return length >= CX_TAG                                                                                     \
                && siv_gcm_aes##bits##_decrypt_message(a->context[0], 12, a->first_iv, a->aad_size, a->aad,         \
                                                       length - CX_TAG, out, in)                                    \
            ? (long)length - CX_TAG                                                                                 \
            : -1;                                                                                                   \
    }                                                                                                               \
    static void add_gcm_siv##bits(void)                                                                             \
    {                                                                                                               \
        add_aead_by("aes-" #bits "-gcm-siv", (bits) / 8, sizeof(struct aes##bits##_ctx), gcm_siv##bits##_key,       \
                    gcm_siv##bits##_work, gcm_siv##bits##_undo)                                                     \
            ->vectors.in_place = 0;                                                                                 \
    }

GCM_SIV(128)
GCM_SIV(256)
#endif

#if CX_NETTLE(3, 8)
/* ---- Key wrapping, RFC 3394 ---- */

static const uint8_t wrap_iv[8] = {0xa6, 0xa6, 0xa6, 0xa6, 0xa6, 0xa6, 0xa6, 0xa6};

static long wrap_work(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    nist_keywrap16(a->context[0], a->cipher->encrypt, wrap_iv, length + 8, out, in);
    return (long)length + 8;
}

static long wrap_undo(struct algorithm *a, const uint8_t *in, size_t length, uint8_t *out)
{
    return length > 8 && nist_keyunwrap16(a->context[1], a->cipher->decrypt, wrap_iv, length - 8, out, in)
        ? (long)length - 8
        : -1;
}

static void add_wrap(const char *name, const struct nettle_cipher *cipher)
{
    struct algorithm *a = add_aead_by(name, cipher->key_size, cipher->context_size, cipher_key, wrap_work, wrap_undo);

    a->cipher = cipher;
    a->bulk = 0;
    a->vectors.in_place = 0;
    a->vectors.block = 8;
    a->vectors.minimum = 16;
    a->vectors.amount = CX_FEW;
}
#endif

static void add_aeads(void)
{
    add_table_aeads();
    add_cipher_aead("aes-128-eax", &nettle_aes128, sizeof(struct eax_both), eax_any_key, eax_work, eax_undo);
    add_cipher_aead("aes-256-eax", &nettle_aes256, sizeof(struct eax_both), eax_any_key, eax_work, eax_undo);
    add_cipher_aead("aes-128-ccm", &nettle_aes128, 0, cipher_key, ccm_work, ccm_undo);
    add_cipher_aead("aes-192-ccm", &nettle_aes192, 0, cipher_key, ccm_work, ccm_undo);
    add_cipher_aead("aes-256-ccm", &nettle_aes256, 0, cipher_key, ccm_work, ccm_undo);
    add_cipher_aead("camellia-128-ccm", &nettle_camellia128, 0, cipher_key, ccm_work, ccm_undo);
    add_siv128();
    add_siv256();
#if CX_NETTLE(3, 9)
    add_cipher_aead("aes-128-ocb", &nettle_aes128, sizeof(struct ocb_key), ocb_any_key, ocb_work, ocb_undo);
    add_cipher_aead("aes-192-ocb", &nettle_aes192, sizeof(struct ocb_key), ocb_any_key, ocb_work, ocb_undo);
    add_cipher_aead("aes-256-ocb", &nettle_aes256, sizeof(struct ocb_key), ocb_any_key, ocb_work, ocb_undo);
    add_gcm_siv128();
    add_gcm_siv256();
#endif
#if CX_NETTLE(3, 8)
    add_wrap("aes-128-wrap", &nettle_aes128);
    add_wrap("aes-192-wrap", &nettle_aes192);
    add_wrap("aes-256-wrap", &nettle_aes256);
#endif
}

#endif
