/* SPDX-License-Identifier: Apache-2.0 */
/* Key derivation through the fixed inputs: the input is the secret or the password. */
#ifndef CX_OPENSSL_VECTORS_KDFS_H
#define CX_OPENSSL_VECTORS_KDFS_H

#include "support.h"

enum { CX_DERIVED = 64, CX_SALT = 16, CX_INFO = 20, CX_ITERATIONS = 10 };

struct cx_kdf_context {
    const char *name;
    const EVP_MD *digest;
    uint8_t salt[CX_SALT];
    uint8_t info[CX_INFO];
};

static void cx_kdf_inputs(struct cx_kdf_context *c)
{
    cx_part(c->name, "salt", c->salt, sizeof c->salt);
    cx_part(c->name, "info", c->info, sizeof c->info);
}

static long cx_pbkdf2(void *context, const uint8_t *in, size_t length, uint8_t *out)
{
    const struct cx_kdf_context *c = context;

    return PKCS5_PBKDF2_HMAC((const char *)in, (int)length, c->salt, CX_SALT, CX_ITERATIONS, c->digest, CX_DERIVED, out)
        ? CX_DERIVED : -1;
}

static long cx_hkdf(void *context, const uint8_t *in, size_t length, uint8_t *out)
{
    const struct cx_kdf_context *c = context;
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_id(EVP_PKEY_HKDF, NULL);
    size_t derived = CX_DERIVED;
    int good = ctx != NULL && EVP_PKEY_derive_init(ctx) > 0 && EVP_PKEY_CTX_set_hkdf_md(ctx, c->digest) > 0
        && EVP_PKEY_CTX_set1_hkdf_salt(ctx, c->salt, CX_SALT) > 0
        && EVP_PKEY_CTX_set1_hkdf_key(ctx, in, (int)length) > 0
        && EVP_PKEY_CTX_add1_hkdf_info(ctx, c->info, CX_INFO) > 0 && EVP_PKEY_derive(ctx, out, &derived) > 0;

    EVP_PKEY_CTX_free(ctx);
    ERR_clear_error();
    return good ? (long)derived : -1;
}

#ifndef OPENSSL_NO_SCRYPT
static long cx_scrypt(void *context, const uint8_t *in, size_t length, uint8_t *out)
{
    const struct cx_kdf_context *c = context;

    return EVP_PBE_scrypt((const char *)in, length, c->salt, CX_SALT, 16, 8, 1, 0, out, CX_DERIVED) ? CX_DERIVED : -1;
}
#endif

/* How `openssl enc` makes a key of a password without -pbkdf2: the digest is its default that changed with 1.1.0. */
static long cx_bytes_to_key(void *context, const uint8_t *in, size_t length, uint8_t *out)
{
    const struct cx_kdf_context *c = context;
    int n = EVP_BytesToKey(EVP_aes_256_cbc(), c->digest, c->salt, in, (int)length, 1, out, out + 32);

    return n > 0 ? n + 16 : -1;
}

/* One derivation over one digest, where the library has that digest. */
static void cx_kdf_over(struct cx_report *report, cx_process *process, const char *kind, const char *digest)
{
    char name[CX_NAME];
    struct cx_kdf_context c = {.name = name, .digest = EVP_get_digestbyname(digest)};
    struct cx_algorithm algorithm = {
        .name = name, .seal = process, .context = &c, .minimum = 1, .amount = CX_FEW};

    (void)snprintf(name, sizeof name, "%s-%s", kind, digest);
    if (c.digest != NULL) {
        cx_kdf_inputs(&c);
        cx_family(report, &algorithm);
    }
}

#if CX_OPENSSL_3
/* Derivations that 3.0 added, all over SHA-256, with every parameter that any of them needs: each takes its own. */
static const struct cx_rename cx_kdf_methods[] = {
    {"SSKDF", "sskdf-sha256"},
    {"X963KDF", "x963kdf-sha256"},
    {"TLS1-PRF", "tls1-prf-sha256"},
    {"SSHKDF", "sshkdf-sha256"},
    {"KBKDF", "kbkdf-sha256"},
    {"PKCS12KDF", "pkcs12kdf-sha256"},
    {"PBKDF1", "pbkdf1-sha256"},
};

static void cx_kdf_parameters(const struct cx_kdf_context *c, const uint8_t *in, size_t length, OSSL_PARAM *p)
{
    static int iterations = CX_ITERATIONS, id = 1;
    static const char *const secrets[] = {"key", "secret", "pass"};
    static const char *const salts[] = {"salt", "seed", "session_id", "xcghash"};
    size_t n = 0;

    for (size_t i = 0; i < 3; i++) {
        p[n++] = OSSL_PARAM_construct_octet_string(secrets[i], (void *)(uintptr_t)in, length);
    }
    for (size_t i = 0; i < 4; i++) {
        p[n++] = OSSL_PARAM_construct_octet_string(salts[i], (void *)(uintptr_t)c->salt, CX_SALT);
    }
    p[n++] = OSSL_PARAM_construct_octet_string("info", (void *)(uintptr_t)c->info, CX_INFO);
    p[n++] = OSSL_PARAM_construct_utf8_string("digest", (char *)(uintptr_t)"SHA256", 0);
    p[n++] = OSSL_PARAM_construct_utf8_string("mac", (char *)(uintptr_t)"HMAC", 0);
    p[n++] = OSSL_PARAM_construct_utf8_string("mode", (char *)(uintptr_t)"counter", 0);
    p[n++] = OSSL_PARAM_construct_utf8_string("type", (char *)(uintptr_t)"A", 0);
    p[n++] = OSSL_PARAM_construct_int("iter", &iterations);
    p[n++] = OSSL_PARAM_construct_int("id", &id);
    p[n] = OSSL_PARAM_construct_end();
}

/* Whether a method takes the parameter: what it does not know is left out, and what it knows but refuses. */
static int cx_kdf_takes(const EVP_KDF *kdf, const char *method, const char *key)
{
    const OSSL_PARAM *known = EVP_KDF_settable_ctx_params(kdf);

    if (strcmp(method, "X963KDF") == 0 && strcmp(key, "mac") == 0) {
        return 0; /* it works with a digest alone */
    }
    if (strcmp(method, "KBKDF") == 0 && strcmp(key, "seed") == 0) {
        return 0; /* an initial value, which counter mode does not have */
    }
    if (strcmp(key, "secret") == 0 && OSSL_PARAM_locate_const(known, "key") != NULL) {
        return 0; /* two names of one thing, which 3.6 refuses to be given twice */
    }
    return known != NULL && OSSL_PARAM_locate_const(known, key) != NULL;
}

static void cx_kdf_keep_taken(const EVP_KDF *kdf, const char *method, OSSL_PARAM *params)
{
    OSSL_PARAM *to = params;

    for (OSSL_PARAM *from = params; from->key != NULL; from++) {
        if (cx_kdf_takes(kdf, method, from->key)) {
            *to++ = *from;
        }
    }
    *to = OSSL_PARAM_construct_end();
}

static long cx_kdf_seal(void *context, const uint8_t *in, size_t length, uint8_t *out)
{
    const struct cx_kdf_context *c = context;
    const char *method = NULL;
    OSSL_PARAM params[20];
    EVP_KDF *kdf;
    EVP_KDF_CTX *ctx;
    size_t wanted = CX_DERIVED;
    int good = 0;

    for (size_t i = 0; i < sizeof cx_kdf_methods / sizeof cx_kdf_methods[0]; i++) {
        method = strcmp(cx_kdf_methods[i].ours, c->name) == 0 ? cx_kdf_methods[i].theirs : method;
    }
    kdf = EVP_KDF_fetch(NULL, method, NULL);
    ctx = EVP_KDF_CTX_new(kdf);
    if (ctx != NULL) {
        cx_kdf_parameters(c, in, length, params);
        cx_kdf_keep_taken(kdf, method, params);
        wanted = strcmp(method, "PBKDF1") == 0 ? 16 : CX_DERIVED;
        good = EVP_KDF_derive(ctx, out, wanted, params) > 0;
    }
    EVP_KDF_CTX_free(ctx);
    EVP_KDF_free(kdf);
    ERR_clear_error();
    return good ? (long)wanted : -1;
}

static void cx_vectors_other_kdfs(struct cx_report *report)
{
    for (size_t i = 0; i < sizeof cx_kdf_methods / sizeof cx_kdf_methods[0]; i++) {
        struct cx_kdf_context c = {.name = cx_kdf_methods[i].ours};
        struct cx_algorithm algorithm = {
            .name = c.name, .seal = cx_kdf_seal, .context = &c, .minimum = 1, .amount = CX_FEW};
        EVP_KDF *kdf = EVP_KDF_fetch(NULL, cx_kdf_methods[i].theirs, NULL);

        if (kdf != NULL) {
            cx_kdf_inputs(&c);
            cx_family(report, &algorithm);
        }
        EVP_KDF_free(kdf);
        ERR_clear_error();
    }
}
#endif

static void cx_vectors_kdfs(struct cx_report *report)
{
    static const char *const digests[] = {"md5", "sha1", "sha256", "sha384", "sha512"};

    for (size_t i = 0; i < sizeof digests / sizeof digests[0]; i++) {
        cx_kdf_over(report, cx_pbkdf2, "pbkdf2", digests[i]);
        cx_kdf_over(report, cx_hkdf, "hkdf", digests[i]);
        cx_kdf_over(report, cx_bytes_to_key, "bytestokey", digests[i]);
    }
#ifndef OPENSSL_NO_SCRYPT
    {
        struct cx_kdf_context c = {.name = "scrypt"};
        struct cx_algorithm algorithm = {
            .name = c.name, .seal = cx_scrypt, .context = &c, .minimum = 1, .amount = CX_FEW};

        cx_kdf_inputs(&c);
        cx_family(report, &algorithm);
    }
#endif
#if CX_OPENSSL_3
    cx_vectors_other_kdfs(report);
#endif
}

#endif
