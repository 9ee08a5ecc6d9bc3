/* SPDX-License-Identifier: Apache-2.0 */
/* What all modes of OpenSSL's workload need: names, the fixed random source, keys. For OpenSSL 1.1.1 and later. */
#ifndef CX_OPENSSL_SUPPORT_H
#define CX_OPENSSL_SUPPORT_H

/* The low-level key structures are the one way to set keys from numbers that 1.1.1 and 3.x share. */
#define OPENSSL_SUPPRESS_DEPRECATED

#include <ctype.h>

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/dh.h>
#include <openssl/dsa.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>

#if OPENSSL_VERSION_NUMBER >= 0x30000000L
# define CX_OPENSSL_3 1
# define CX_METHOD /* what is fetched is counted, and so not const */
# include <openssl/core_names.h>
# include <openssl/kdf.h>
# include <openssl/params.h>
# include <openssl/provider.h>
#else
# define CX_OPENSSL_3 0
# define CX_METHOD const
# include <openssl/cmac.h>
# include <openssl/kdf.h>
#endif

#include "../common/keys.h"
#include "../common/modes.h"
#include "../common/vectors.h"

enum { CX_NAME = 64, CX_TAG = 16 };

/* Prints what went wrong with the library's own first error, forgets the rest. Returns 1. */
static int cx_complain(const char *where)
{
    char text[256] = "no error code";
    unsigned long code = ERR_get_error();

    if (code != 0) {
        ERR_error_string_n(code, text, sizeof text);
    }
    ERR_clear_error();
    (void)fprintf(stderr, "workload: %s: %s\n", where, text);
    return 1;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* The fixed random source. Each operation starts it again, so that its cost does not depend on those before it.       */

static struct cx_source cx_random;
static char cx_random_label[CX_NAME] = "random";

static void cx_random_restart(void)
{
    cx_source_start(&cx_random, cx_random_label);
}

static int cx_random_bytes(unsigned char *out, int length)
{
    if (length > 0) {
        cx_source_read(&cx_random, out, (size_t)length);
    }
    return 1;
}

static int cx_random_status(void)
{
    return 1;
}

static int cx_random_install(void)
{
    static RAND_METHOD method;

    method.bytes = cx_random_bytes;
    method.pseudorand = cx_random_bytes;
    method.status = cx_random_status;
    cx_random_restart();
    return RAND_set_rand_method(&method);
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Names                                                                                                              */

struct cx_rename {
    const char *theirs; /* lower case, the start of a name */
    const char *ours;
};

/* Replaces the first start that fits; name has room for CX_NAME. */
static void cx_rename_start(char *name, const struct cx_rename *renames, size_t count)
{
    char rest[CX_NAME];

    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(renames[i].theirs);

        if (strncmp(name, renames[i].theirs, n) == 0) {
            (void)snprintf(rest, sizeof rest, "%s", name + n);
            (void)snprintf(name, CX_NAME, "%.24s%.32s", renames[i].ours, rest);
            return;
        }
    }
}

/* OpenSSL's name of a digest or cipher as vectors.h has it: SHA2-256 is sha256, BF-CBC is blowfish-cbc. */
static void cx_common_name(const char *theirs, char name[CX_NAME])
{
    static const struct cx_rename renames[] = {
        {"sha2-", "sha"}, {"sha-", "sha"}, {"shake-", "shake"}, {"ripemd-", "ripemd"}, {"rsa-sha1", "sha1"},
        {"blake2b512", "blake2b-512"}, {"blake2s256", "blake2s-256"},
        {"bf-", "blowfish-"}, {"id-aes128-", "aes-128-"}, {"id-aes192-", "aes-192-"}, {"id-aes256-", "aes-256-"},
        {"id-smime-alg-cms3deswrap", "des3-wrap"},
    };
    size_t i;

    for (i = 0; i < CX_NAME - 1 && theirs[i] != '\0'; i++) {
        name[i] = theirs[i] == '/' || theirs[i] == '_' ? '-' : (char)tolower((unsigned char)theirs[i]);
    }
    name[i] = '\0';
    cx_rename_start(name, renames, sizeof renames / sizeof renames[0]);
    if (strcmp(name, "des-ede3") == 0 || strcmp(name, "des-ede") == 0) {
        (void)strcat(name, "-ecb");
    }
}

static int cx_ends(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);

    return n >= m && strcmp(name + n - m, end) == 0;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* The library                                                                                                        */

#if CX_OPENSSL_3
static OSSL_PROVIDER *cx_default_provider, *cx_legacy_provider;
#endif

/* No configuration file, our random source, and the legacy algorithms where this build has them inside. */
static int cx_library_start(void)
{
    if (!OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_ADD_ALL_CIPHERS | OPENSSL_INIT_ADD_ALL_DIGESTS,
                             NULL)) {
        return cx_complain("the library does not start");
    }
#if CX_OPENSSL_3
    cx_default_provider = OSSL_PROVIDER_load(NULL, "default");
    if (cx_default_provider == NULL) {
        return cx_complain("the default provider does not load");
    }
    cx_legacy_provider = OSSL_PROVIDER_load(NULL, "legacy");
    ERR_clear_error();
#endif
    return cx_random_install() ? 0 : cx_complain("the fixed random source is refused");
}

/* Gives back what cx_library_start took, so that a leak checker sees this program's own leaks alone. */
static void cx_library_end(void)
{
#if CX_OPENSSL_3
    (void)OSSL_PROVIDER_unload(cx_legacy_provider);
    (void)OSSL_PROVIDER_unload(cx_default_provider);
#endif
}

/* A digest or cipher by a name that 1.1.1 and 3.x both know; the caller gives it back. NULL where the build lacks it. */
#if CX_OPENSSL_3
static EVP_MD *cx_digest(const char *theirs)
{
    return EVP_MD_fetch(NULL, theirs, NULL);
}

static void cx_digest_free(EVP_MD *digest)
{
    EVP_MD_free(digest);
}

static EVP_CIPHER *cx_cipher(const char *theirs)
{
    return EVP_CIPHER_fetch(NULL, theirs, NULL);
}

static void cx_cipher_free(EVP_CIPHER *cipher)
{
    EVP_CIPHER_free(cipher);
}
#else
static const EVP_MD *cx_digest(const char *theirs)
{
    return EVP_get_digestbyname(theirs);
}

static void cx_digest_free(const EVP_MD *digest)
{
    (void)digest;
}

static const EVP_CIPHER *cx_cipher(const char *theirs)
{
    return EVP_get_cipherbyname(theirs);
}

static void cx_cipher_free(const EVP_CIPHER *cipher)
{
    (void)cipher;
}
#endif

/* ---------------------------------------------------------------------------------------------------------------- */
/* Keys. All return a key that the caller frees, or NULL.                                                             */

static BIGNUM *cx_number_from_hex(const char *hex)
{
    BIGNUM *number = NULL;

    return BN_hex2bn(&number, hex) == 0 ? NULL : number;
}

/* Wraps a low-level key. Frees it where that fails. */
static EVP_PKEY *cx_wrap_key(int type, void *low_level)
{
    EVP_PKEY *key = EVP_PKEY_new();

    if (key == NULL || low_level == NULL || !EVP_PKEY_assign(key, type, low_level)) {
        EVP_PKEY_free(key);
        return NULL;
    }
    return key;
}

static EVP_PKEY *cx_rsa(unsigned bits)
{
    const struct cx_rsa_key *k = cx_rsa_key(bits);
    RSA *rsa = RSA_new();

    if (k == NULL || rsa == NULL
        || !RSA_set0_key(rsa, cx_number_from_hex(k->n), cx_number_from_hex(CX_RSA_EXPONENT), cx_number_from_hex(k->d))
        || !RSA_set0_factors(rsa, cx_number_from_hex(k->p), cx_number_from_hex(k->q))
        || !RSA_set0_crt_params(rsa, cx_number_from_hex(k->dp), cx_number_from_hex(k->dq),
                                cx_number_from_hex(k->qinv))) {
        RSA_free(rsa);
        return NULL;
    }
    return cx_wrap_key(EVP_PKEY_RSA, rsa);
}

#ifndef OPENSSL_NO_DSA
static EVP_PKEY *cx_dsa(void)
{
    const struct cx_dsa_key *k = &cx_dsa_key_2048;
    DSA *dsa = DSA_new();

    if (dsa == NULL
        || !DSA_set0_pqg(dsa, cx_number_from_hex(k->p), cx_number_from_hex(k->q), cx_number_from_hex(k->g))
        || !DSA_set0_key(dsa, cx_number_from_hex(k->y), cx_number_from_hex(k->x))) {
        DSA_free(dsa);
        return NULL;
    }
    return cx_wrap_key(EVP_PKEY_DSA, dsa);
}
#endif

#ifndef OPENSSL_NO_DH
/* A key of the group ffdhe2048 with the private number of that label. */
static EVP_PKEY *cx_ffdh(const char *label)
{
    DH *dh = DH_new_by_nid(NID_ffdhe2048);
    uint8_t secret[28];
    BIGNUM *number;

    cx_part("ffdh-2048", label, secret, sizeof secret);
    number = BN_bin2bn(secret, (int)sizeof secret, NULL);
    if (dh == NULL || number == NULL || !DH_set0_key(dh, NULL, number) || !DH_generate_key(dh)) {
        DH_free(dh);
        return NULL;
    }
    return cx_wrap_key(EVP_PKEY_DH, dh);
}
#endif

#ifndef OPENSSL_NO_EC
struct cx_curve {
    const char *name;
    int nid;
    size_t bytes; /* of a coordinate and of a scalar */
};

static const struct cx_curve cx_curves[] = {
    {"p256", NID_X9_62_prime256v1, 32},
    {"p384", NID_secp384r1, 48},
    {"p521", NID_secp521r1, 66},
};

enum { CX_CURVES = sizeof cx_curves / sizeof cx_curves[0] };

/* A private scalar from big-endian bytes. Those of p521 have their first byte set to 0: then all are below the order. */
static BIGNUM *cx_scalar(const struct cx_curve *curve, const uint8_t *bytes)
{
    size_t skip = curve->bytes == 66 ? 1 : 0;

    return BN_bin2bn(bytes + skip, (int)(curve->bytes - skip), NULL);
}

/* A key of the curve with the private scalar of stream NAME/PART. */
static EVP_PKEY *cx_ec(const struct cx_curve *curve, const char *name, const char *part)
{
    EC_KEY *key = EC_KEY_new_by_curve_name(curve->nid);
    uint8_t bytes[66];
    BIGNUM *scalar;
    EC_POINT *point = NULL;
    int good;

    cx_part(name, part, bytes, curve->bytes);
    scalar = cx_scalar(curve, bytes);
    good = key != NULL && scalar != NULL && (point = EC_POINT_new(EC_KEY_get0_group(key))) != NULL
        && EC_POINT_mul(EC_KEY_get0_group(key), point, scalar, NULL, NULL, NULL) && EC_KEY_set_private_key(key, scalar)
        && EC_KEY_set_public_key(key, point);
    EC_POINT_free(point);
    BN_clear_free(scalar);
    if (!good) {
        EC_KEY_free(key);
        return NULL;
    }
    return cx_wrap_key(EVP_PKEY_EC, key);
}

struct cx_raw_curve {
    const char *name;
    int type;
    size_t bytes; /* of a private key */
    int signs;
};

static const struct cx_raw_curve cx_raw_curves[] = {
    {"ed25519", EVP_PKEY_ED25519, 32, 1},
    {"ed448", EVP_PKEY_ED448, 57, 1},
    {"x25519", EVP_PKEY_X25519, 32, 0},
    {"x448", EVP_PKEY_X448, 56, 0},
};

enum { CX_RAW_CURVES = sizeof cx_raw_curves / sizeof cx_raw_curves[0] };

static EVP_PKEY *cx_raw_key(const struct cx_raw_curve *curve, const char *part)
{
    uint8_t bytes[57];

    cx_part(curve->name, part, bytes, curve->bytes);
    return EVP_PKEY_new_raw_private_key(curve->type, NULL, bytes, curve->bytes);
}
#endif

#endif
