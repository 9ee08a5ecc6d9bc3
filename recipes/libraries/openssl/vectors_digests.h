/* SPDX-License-Identifier: Apache-2.0 */
/* Every digest and MAC that the library offers, through the fixed inputs. */
#ifndef CX_OPENSSL_VECTORS_DIGESTS_H
#define CX_OPENSSL_VECTORS_DIGESTS_H

#include <openssl/hmac.h>

#include "support.h"
#include "vectors_ciphers.h"

enum { CX_MAC_KEY = 32 };

struct cx_digest_context {
    const EVP_MD *digest;
    size_t xof_length;      /* 0: the digest has its own length */
    uint8_t key[CX_MAC_KEY]; /* of HMAC */
};

static long cx_digest_seal(void *context, const uint8_t *in, size_t length, uint8_t *out)
{
    const struct cx_digest_context *c = context;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    unsigned n = 0;
    int good = ctx != NULL && EVP_DigestInit_ex(ctx, c->digest, NULL) && EVP_DigestUpdate(ctx, in, length);

    if (good && c->xof_length != 0) {
        good = EVP_DigestFinalXOF(ctx, out, c->xof_length);
        n = (unsigned)c->xof_length;
    } else if (good) {
        good = EVP_DigestFinal_ex(ctx, out, &n);
    }
    EVP_MD_CTX_free(ctx);
    ERR_clear_error();
    return good ? (long)n : -1;
}

static long cx_hmac_seal(void *context, const uint8_t *in, size_t length, uint8_t *out)
{
    const struct cx_digest_context *c = context;
    unsigned n = 0;

    if (HMAC(c->digest, c->key, CX_MAC_KEY, in, length, out, &n) == NULL) {
        ERR_clear_error();
        return -1;
    }
    return (long)n;
}

static int cx_is_xof(const EVP_MD *digest)
{
    return (EVP_MD_flags(digest) & EVP_MD_FLAG_XOF) != 0;
}

static void cx_digest_families(struct cx_report *report, const EVP_MD *digest, const char *name)
{
    struct cx_digest_context c = {.digest = digest};
    struct cx_algorithm algorithm = {.name = name, .seal = cx_digest_seal, .context = &c};
    char hmac_name[CX_NAME + 8];

    if (strcmp(name, "null") == 0 || strcmp(name, "undef") == 0) {
        return;
    }
    if (cx_is_xof(digest)) {
        c.xof_length = strstr(name, "128") != NULL ? 32 : 64;
    }
    cx_family(report, &algorithm);
    if (cx_is_xof(digest) || strcmp(name, "md5-sha1") == 0) {
        return; /* HMAC is not defined over them */
    }
    (void)snprintf(hmac_name, sizeof hmac_name, "hmac-%s", name);
    cx_part(hmac_name, "key", c.key, sizeof c.key);
    algorithm.name = hmac_name;
    algorithm.seal = cx_hmac_seal;
    cx_family(report, &algorithm);
}

#if CX_OPENSSL_3
static void cx_offer_digest(EVP_MD *digest, void *offers)
{
    if (cx_offer_add(offers, EVP_MD_get0_name(digest), digest)) {
        (void)EVP_MD_up_ref(digest);
    }
}
#else
static void cx_offer_digest(const EVP_MD *digest, const char *from, const char *to, void *offers)
{
    (void)from;
    (void)to;
    if (digest != NULL) {
        (void)cx_offer_add(offers, OBJ_nid2sn(EVP_MD_type(digest)), digest);
    }
}
#endif

static void cx_vectors_digests(struct cx_report *report)
{
    static struct cx_offers offers;

#if CX_OPENSSL_3
    EVP_MD_do_all_provided(NULL, cx_offer_digest, &offers);
#else
    EVP_MD_do_all_sorted(cx_offer_digest, &offers);
#endif
    cx_offers_sort(&offers);
    for (size_t i = 0; i < offers.count; i++) {
        cx_digest_families(report, offers.all[i].method, offers.all[i].name);
#if CX_OPENSSL_3
        EVP_MD_free((EVP_MD *)(uintptr_t)offers.all[i].method);
#endif
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* MACs other than HMAC                                                                                               */

struct cx_mac {
    const char *name;
    const char *method;  /* the library's name */
    const char *cipher;  /* NULL where it takes none */
    size_t key_length;
    size_t size;         /* to ask for; 0: the method's own */
    int nonce;
};

static const struct cx_mac cx_macs[] = {
    {"cmac-aes-128", "CMAC", "AES-128-CBC", 16, 0, 0},
    {"cmac-aes-192", "CMAC", "AES-192-CBC", 24, 0, 0},
    {"cmac-aes-256", "CMAC", "AES-256-CBC", 32, 0, 0},
    {"cmac-des-ede3", "CMAC", "DES-EDE3-CBC", 24, 0, 0},
    {"cmac-camellia-128", "CMAC", "CAMELLIA-128-CBC", 16, 0, 0},
    {"cmac-camellia-256", "CMAC", "CAMELLIA-256-CBC", 32, 0, 0},
    {"gmac-aes-128", "GMAC", "AES-128-GCM", 16, 0, 1},
    {"gmac-aes-192", "GMAC", "AES-192-GCM", 24, 0, 1},
    {"gmac-aes-256", "GMAC", "AES-256-GCM", 32, 0, 1},
    {"poly1305", "POLY1305", NULL, 32, 0, 0},
    {"siphash-2-4", "SIPHASH", NULL, 16, 16, 0},
    {"kmac-128", "KMAC-128", NULL, 32, 32, 0},
    {"kmac-256", "KMAC-256", NULL, 32, 64, 0},
    {"blake2b-mac", "BLAKE2BMAC", NULL, 32, 64, 0},
    {"blake2s-mac", "BLAKE2SMAC", NULL, 32, 32, 0},
};

struct cx_mac_context {
    const struct cx_mac *mac;
    uint8_t key[CX_MAC_KEY];
    uint8_t nonce[CX_NONCE];
#if CX_OPENSSL_3
    EVP_MAC_CTX *keyed;
#else
    EVP_PKEY *keyed;
#endif
};

#if CX_OPENSSL_3
static EVP_MAC_CTX *cx_mac_new(const struct cx_mac_context *c)
{
    EVP_MAC *method = EVP_MAC_fetch(NULL, c->mac->method, NULL);
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(method);
    size_t size = c->mac->size;
    OSSL_PARAM params[4], *p = params;

    if (c->mac->cipher != NULL) {
        *p++ = OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_CIPHER, (char *)(uintptr_t)c->mac->cipher, 0);
    }
    if (c->mac->nonce) {
        *p++ = OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_IV, (void *)(uintptr_t)c->nonce, CX_NONCE);
    }
    if (size != 0) {
        *p++ = OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size);
    }
    *p = OSSL_PARAM_construct_end();
    EVP_MAC_free(method);
    if (ctx != NULL && !EVP_MAC_init(ctx, c->key, c->mac->key_length, params)) {
        EVP_MAC_CTX_free(ctx);
        ctx = NULL;
    }
    ERR_clear_error();
    return ctx;
}

/* A copy of the keyed context for each input: not every MAC can start again with the key it has. */
static long cx_mac_seal(void *context, const uint8_t *in, size_t length, uint8_t *out)
{
    const struct cx_mac_context *c = context;
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_dup(c->keyed);
    size_t written = 0;
    int good = ctx != NULL && EVP_MAC_update(ctx, in, length) && EVP_MAC_final(ctx, out, &written, CX_ROOM);

    EVP_MAC_CTX_free(ctx);
    ERR_clear_error();
    return good ? (long)written : -1;
}

static void cx_mac_free(EVP_MAC_CTX *ctx)
{
    EVP_MAC_CTX_free(ctx);
}
#else
static EVP_PKEY *cx_mac_new(const struct cx_mac_context *c)
{
    const char *method = c->mac->method;

    if (strcmp(method, "CMAC") == 0) {
        const EVP_CIPHER *cipher = EVP_get_cipherbyname(c->mac->cipher);

        return cipher == NULL ? NULL : EVP_PKEY_new_CMAC_key(NULL, c->key, c->mac->key_length, cipher);
    }
    if (strcmp(method, "POLY1305") != 0 && strcmp(method, "SIPHASH") != 0) {
        return NULL; /* not in 1.1.1 */
    }
    return EVP_PKEY_new_raw_private_key(strcmp(method, "POLY1305") == 0 ? EVP_PKEY_POLY1305 : EVP_PKEY_SIPHASH, NULL,
                                        c->key, c->mac->key_length);
}

static long cx_mac_seal(void *context, const uint8_t *in, size_t length, uint8_t *out)
{
    const struct cx_mac_context *c = context;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    size_t written = CX_ROOM;
    int good = ctx != NULL && EVP_DigestSignInit(ctx, NULL, NULL, NULL, c->keyed)
        && EVP_DigestSignUpdate(ctx, in, length) && EVP_DigestSignFinal(ctx, out, &written);

    EVP_MD_CTX_free(ctx);
    ERR_clear_error();
    return good ? (long)written : -1;
}

static void cx_mac_free(EVP_PKEY *key)
{
    EVP_PKEY_free(key);
}
#endif

static void cx_vectors_macs(struct cx_report *report)
{
    for (size_t i = 0; i < sizeof cx_macs / sizeof cx_macs[0]; i++) {
        struct cx_mac_context c = {.mac = &cx_macs[i]};
        struct cx_algorithm algorithm = {.name = cx_macs[i].name, .seal = cx_mac_seal, .context = &c};

        cx_part(algorithm.name, "key", c.key, c.mac->key_length);
        cx_part(algorithm.name, "nonce", c.nonce, sizeof c.nonce);
        c.keyed = cx_mac_new(&c);
        if (c.keyed != NULL) {
            cx_family(report, &algorithm);
        }
        cx_mac_free(c.keyed);
    }
}

#endif
