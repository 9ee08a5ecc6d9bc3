/* SPDX-License-Identifier: Apache-2.0 */
/* Every cipher that the library offers, in every mode, through the fixed inputs. */
#ifndef CX_OPENSSL_VECTORS_CIPHERS_H
#define CX_OPENSSL_VECTORS_CIPHERS_H

#include "support.h"

enum { CX_AAD = 20, CX_NONCE = 12, CX_MOST_NAMES = 512 };

enum cx_kind { CX_PLAIN, CX_AEAD, CX_CCM, CX_SIV, CX_WRAP };

struct cx_cipher_context {
    const EVP_CIPHER *cipher;
    enum cx_kind kind;
    size_t key_length;
    uint8_t key[EVP_MAX_KEY_LENGTH];
    uint8_t iv[EVP_MAX_IV_LENGTH];
    uint8_t aad[CX_AAD];
};

/* Key, nonce and what the kind needs, for one direction. */
static int cx_cipher_start(EVP_CIPHER_CTX *ctx, const struct cx_cipher_context *c, int encrypt, uint8_t *tag)
{
    if (c->kind == CX_WRAP) {
        EVP_CIPHER_CTX_set_flags(ctx, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW);
    }
    if (!EVP_CipherInit_ex(ctx, c->cipher, NULL, NULL, NULL, encrypt)
        || EVP_CIPHER_CTX_key_length(ctx) != (int)c->key_length) {
        return 0;
    }
    if ((c->kind == CX_AEAD || c->kind == CX_CCM)
        && !EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_IVLEN, CX_NONCE, NULL)) {
        return 0;
    }
    /* CCM and OCB must know the tag's length before the key when sealing, all of them the tag when opening. */
    if (c->kind == CX_CCM && encrypt && !EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, CX_TAG, NULL)) {
        return 0;
    }
    if (c->kind != CX_PLAIN && c->kind != CX_WRAP && !encrypt
        && !EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, CX_TAG, tag)) {
        return 0;
    }
    if (!EVP_CipherInit_ex(ctx, NULL, NULL, c->key, c->kind == CX_WRAP || c->kind == CX_SIV ? NULL : c->iv, encrypt)) {
        return 0;
    }
    return c->kind != CX_PLAIN || EVP_CIPHER_CTX_set_padding(ctx, 0);
}

static int cx_cipher_aad(EVP_CIPHER_CTX *ctx, const struct cx_cipher_context *c, size_t length)
{
    int n;

    if (c->kind == CX_PLAIN || c->kind == CX_WRAP) {
        return 1;
    }
    if (c->kind == CX_CCM && !EVP_CipherUpdate(ctx, NULL, &n, NULL, (int)length)) {
        return 0;
    }
    if (!EVP_CipherUpdate(ctx, NULL, &n, c->aad, CX_AAD)) {
        return 0;
    }
    return c->kind != CX_SIV || EVP_CipherUpdate(ctx, NULL, &n, c->iv, CX_NONCE);
}

/* Runs the cipher over length bytes, whole. Returns the bytes written, -1 on failure. */
static long cx_cipher_run(const struct cx_cipher_context *c, int encrypt, const uint8_t *in, size_t length,
                          uint8_t *out, uint8_t *tag)
{
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int n = 0, rest = 0, has_tag = c->kind != CX_PLAIN && c->kind != CX_WRAP;
    int good = ctx != NULL && cx_cipher_start(ctx, c, encrypt, tag) && cx_cipher_aad(ctx, c, length)
        && EVP_CipherUpdate(ctx, out, &n, in, (int)length);

    /* CCM has checked its tag by now and has no final step when opening. Wrapping has none at all: 1.1.1 would report 16
     * more bytes for Triple DES. */
    if (good && c->kind != CX_WRAP && !(c->kind == CX_CCM && !encrypt)) {
        good = EVP_CipherFinal_ex(ctx, out + n, &rest);
    }
    if (good && encrypt && has_tag) {
        good = EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, CX_TAG, tag);
    }
    EVP_CIPHER_CTX_free(ctx);
    ERR_clear_error();
    return good ? (long)n + rest : -1;
}

static long cx_cipher_seal(void *context, const uint8_t *in, size_t length, uint8_t *out)
{
    const struct cx_cipher_context *c = context;
    uint8_t tag[CX_TAG];
    long written;

    cx_random_restart();
    written = cx_cipher_run(c, 1, in, length, out, tag);
    if (written >= 0 && c->kind != CX_PLAIN && c->kind != CX_WRAP) {
        memcpy(out + written, tag, CX_TAG);
        written += CX_TAG;
    }
    return written;
}

static long cx_cipher_open(void *context, const uint8_t *in, size_t length, uint8_t *out)
{
    const struct cx_cipher_context *c = context;
    size_t tag_length = c->kind == CX_PLAIN || c->kind == CX_WRAP ? 0 : CX_TAG;
    static uint8_t unwrapped[CX_LONGEST + CX_ROOM];
    uint8_t tag[CX_TAG];
    long written;

    if (length < tag_length) {
        return -1;
    }
    memcpy(tag, in + length - tag_length, tag_length);
    if (c->kind != CX_WRAP) {
        return cx_cipher_run(c, 0, in, length - tag_length, out, tag);
    }
    /* Unwrapping writes its padding too, which may be more than the result. */
    written = cx_cipher_run(c, 0, in, length, unwrapped, tag);
    if (written > 0) {
        memcpy(out, unwrapped, (size_t)written);
    }
    return written;
}

static enum cx_kind cx_cipher_kind(const EVP_CIPHER *cipher)
{
    switch (EVP_CIPHER_mode(cipher)) {
    case EVP_CIPH_WRAP_MODE:
        return CX_WRAP;
    case EVP_CIPH_CCM_MODE:
    case EVP_CIPH_OCB_MODE:
        return EVP_CIPHER_mode(cipher) == EVP_CIPH_CCM_MODE ? CX_CCM : CX_AEAD;
#ifdef EVP_CIPH_SIV_MODE
    case EVP_CIPH_SIV_MODE:
        return CX_SIV;
#endif
    default:
        return (EVP_CIPHER_flags(cipher) & EVP_CIPH_FLAG_AEAD_CIPHER) != 0 ? CX_AEAD : CX_PLAIN;
    }
}

static void cx_cipher_inputs(struct cx_cipher_context *c, const char *name)
{
    int iv_length = EVP_CIPHER_iv_length(c->cipher);

    cx_part(name, "key", c->key, c->key_length);
    cx_part(name, "aad", c->aad, sizeof c->aad);
    if (c->kind == CX_PLAIN && strcmp(name, "chacha20") == 0) {
        memset(c->iv, 0, 4); /* the block counter, in the library's own layout of the iv */
        cx_part(name, "iv", c->iv + 4, CX_NONCE);
    } else if (c->kind == CX_PLAIN && iv_length > 0) {
        cx_iv(name, c->iv, (size_t)iv_length);
    } else {
        cx_part(name, "nonce", c->iv, CX_NONCE);
    }
}

/* Which lengths the cipher takes. */
static void cx_cipher_lengths(struct cx_algorithm *algorithm, const EVP_CIPHER *cipher, enum cx_kind kind)
{
    int inverse_or_plain = !cx_ends(algorithm->name, "-pad");

    algorithm->block = kind == CX_PLAIN ? (size_t)EVP_CIPHER_block_size(cipher) : 1;
    if (kind == CX_WRAP) {
        algorithm->block = inverse_or_plain ? 8 : 1;
        algorithm->minimum = inverse_or_plain ? 16 : 1;
    }
    if (kind == CX_SIV) {
        algorithm->minimum = 1;
    }
    if (EVP_CIPHER_mode(cipher) == EVP_CIPH_XTS_MODE) {
        algorithm->minimum = 16;
    }
    if (cx_ends(algorithm->name, "-cbc-cts")) {
        algorithm->block = 1;
        algorithm->minimum = 16;
    }
    /* One block operation a byte or even a bit. */
    if (cx_ends(algorithm->name, "-cfb8") || cx_ends(algorithm->name, "-cfb1") || kind == CX_WRAP) {
        algorithm->amount = CX_FEW;
    }
}

/* Ciphers with no result of their own, and those that make sense inside TLS alone. */
static int cx_cipher_left_out(const EVP_CIPHER *cipher, const char *name)
{
    int length = EVP_CIPHER_key_length(cipher);

    return length <= 0 || length > EVP_MAX_KEY_LENGTH || strstr(name, "hmac") != NULL || strcmp(name, "null") == 0
        || strcmp(name, "undef") == 0 || cx_ends(name, "-inv") || cx_ends(name, "-pad-inv");
}

static void cx_cipher_family(struct cx_report *report, const EVP_CIPHER *cipher, const char *name)
{
    struct cx_cipher_context c = {.cipher = cipher, .kind = cx_cipher_kind(cipher)};
    struct cx_algorithm algorithm = {
        .name = name, .seal = cx_cipher_seal, .open = cx_cipher_open, .context = &c, .in_place = c.kind != CX_WRAP};

    if (cx_cipher_left_out(cipher, name)) {
        return;
    }
    algorithm.authenticated = c.kind != CX_PLAIN;
    c.key_length = (size_t)EVP_CIPHER_key_length(cipher);
    cx_cipher_inputs(&c, name);
    cx_cipher_lengths(&algorithm, cipher, c.kind);
    cx_family(report, &algorithm);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* What the library offers, sorted by our names, so that two versions' reports stand in the same order.               */

struct cx_offer {
    char name[CX_NAME];
    const void *method;
};

struct cx_offers {
    struct cx_offer all[CX_MOST_NAMES];
    size_t count;
};

static int cx_offer_order(const void *a, const void *b)
{
    return strcmp(((const struct cx_offer *)a)->name, ((const struct cx_offer *)b)->name);
}

/* Adds a method under our name, once: aliases and second providers add nothing. Returns whether it is new. */
static int cx_offer_add(struct cx_offers *offers, const char *theirs, const void *method)
{
    struct cx_offer *offer = &offers->all[offers->count];

    if (theirs == NULL || offers->count == CX_MOST_NAMES) {
        return 0;
    }
    cx_common_name(theirs, offer->name);
    for (size_t i = 0; i < offers->count; i++) {
        if (strcmp(offers->all[i].name, offer->name) == 0) {
            return 0;
        }
    }
    offer->method = method;
    offers->count++;
    return 1;
}

static void cx_offers_sort(struct cx_offers *offers)
{
    qsort(offers->all, offers->count, sizeof offers->all[0], cx_offer_order);
}

#if CX_OPENSSL_3
static void cx_offer_cipher(EVP_CIPHER *cipher, void *offers)
{
    if (cx_offer_add(offers, EVP_CIPHER_get0_name(cipher), cipher)) {
        (void)EVP_CIPHER_up_ref(cipher);
    }
}
#else
/* 1.1.1 lists aliases too, with no method of their own. */
static void cx_offer_cipher(const EVP_CIPHER *cipher, const char *from, const char *to, void *offers)
{
    (void)from;
    (void)to;
    if (cipher != NULL) {
        (void)cx_offer_add(offers, OBJ_nid2sn(EVP_CIPHER_nid(cipher)), cipher);
    }
}
#endif

static void cx_vectors_ciphers(struct cx_report *report)
{
    static struct cx_offers offers;

#if CX_OPENSSL_3
    EVP_CIPHER_do_all_provided(NULL, cx_offer_cipher, &offers);
#else
    EVP_CIPHER_do_all_sorted(cx_offer_cipher, &offers);
#endif
    cx_offers_sort(&offers);
    for (size_t i = 0; i < offers.count; i++) {
        cx_cipher_family(report, offers.all[i].method, offers.all[i].name);
#if CX_OPENSSL_3
        EVP_CIPHER_free((EVP_CIPHER *)(uintptr_t)offers.all[i].method);
#endif
    }
}

#endif
