/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The short fixed workload that runs once under the counting plugin: every algorithm for which the library has assembly
 * on some target, both directions, at lengths that reach short, bulk and remainder code. It shows what ran, not that
 * the results are right: `vectors` does that.
 */
#ifndef CX_OPENSSL_EVIDENCE_H
#define CX_OPENSSL_EVIDENCE_H

#include "bench.h"
#include "support.h"
#include "vectors_ciphers.h"
#include "vectors_digests.h"

/* All are multiples of 16. Strides of assembly: 4, 6 and 8 blocks (bit-sliced AES), 512 bytes (ChaCha20, AES-GCM). */
static const uint16_t cx_evidence_sizes[] = {16,  32,  48,  64,  80,   96,   112,  128, 144,
                                             192, 256, 320, 512, 576, 1024, 2064, 4096, 8192};

enum { CX_EVIDENCE_SIZES = sizeof cx_evidence_sizes / sizeof cx_evidence_sizes[0], CX_EVIDENCE_LARGEST = 8192 + 64 };

static uint8_t cx_evidence_in[CX_EVIDENCE_LARGEST], cx_evidence_out[CX_EVIDENCE_LARGEST + CX_ROOM],
    cx_evidence_back[CX_EVIDENCE_LARGEST + CX_ROOM];

/* Runs the pair over all sizes and prints a line: name and a digest of the outputs. Returns 0, or 1 after a message. */
static int cx_show(const char *name, cx_process *seal, cx_process *open, void *context, int whole_blocks)
{
    struct cx_sha256 hash;
    char text[17];

    cx_sha256_init(&hash);
    for (size_t i = 0; i < CX_EVIDENCE_SIZES; i++) {
        /* Every third size ends within a block; every input starts elsewhere: both have code of their own. */
        size_t size = cx_evidence_sizes[i] + (!whole_blocks && i % 3 == 2 ? 5u : 0u);
        const uint8_t *in = cx_evidence_in + (5 * i) % 8;
        long written = seal(context, in, size, cx_evidence_out);

        if (written < 0
            || (open != NULL && open(context, cx_evidence_out, (size_t)written, cx_evidence_back) != (long)size)) {
            return cx_complain(name);
        }
        cx_sha256_update(&hash, cx_evidence_out, (size_t)written < 64 ? (size_t)written : 64);
    }
    cx_sha256_hex(&hash, text, 8);
    (void)printf("%s %s\n", name, text);
    return 0;
}

static int cx_show_cipher(const char *theirs)
{
    CX_METHOD EVP_CIPHER *cipher = cx_cipher(theirs);
    struct cx_cipher_context c = {.cipher = cipher};
    char name[CX_NAME];
    int bad;

    if (cipher == NULL) {
        ERR_clear_error();
        return 0; /* this build does not have it */
    }
    cx_common_name(theirs, name);
    c.kind = cx_cipher_kind(c.cipher);
    c.key_length = (size_t)EVP_CIPHER_key_length(c.cipher);
    cx_cipher_inputs(&c, name);
    bad = cx_show(name, cx_cipher_seal, cx_cipher_open, &c, EVP_CIPHER_block_size(c.cipher) > 1);
    cx_cipher_free(cipher);
    return bad;
}

static int cx_show_ciphers(void)
{
    static const char *const aes_modes[] = {"ECB", "CBC", "CTR", "CFB", "OFB"};
    static const char *const others[] = {
        "id-aes128-GCM", "id-aes192-GCM", "id-aes256-GCM", "id-aes128-CCM", "id-aes256-CCM", "AES-128-OCB",
        "AES-192-OCB", "AES-256-OCB", "AES-128-XTS", "AES-256-XTS", "AES-128-SIV", "AES-256-GCM-SIV", "AES-128-CBC-CTS",
        "ChaCha20", "ChaCha20-Poly1305", "CAMELLIA-128-ECB", "CAMELLIA-128-CBC", "CAMELLIA-256-CBC", "CAMELLIA-256-CTR",
        "ARIA-128-CTR", "ARIA-256-GCM", "SM4-ECB", "SM4-CBC", "SM4-CTR", "SM4-GCM", "SM4-CCM", "SM4-XTS",
        "DES-EDE3-CBC", "DES-CBC", "RC4", "BF-CBC", "CAST5-CBC", "RC2-CBC"};
    int bad = 0;

    for (unsigned bits = 128; bits <= 256; bits += 64) {
        for (size_t i = 0; i < sizeof aes_modes / sizeof aes_modes[0]; i++) {
            char name[CX_NAME];

            (void)snprintf(name, sizeof name, "AES-%u-%s", bits, aes_modes[i]);
            bad |= cx_show_cipher(name);
        }
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        bad |= cx_show_cipher(others[i]);
    }
    return bad;
}

static int cx_show_digests(void)
{
    static const char *const digests[] = {
        "MD5", "SHA1", "SHA224", "SHA256", "SHA384", "SHA512", "SHA3-224", "SHA3-256", "SHA3-384", "SHA3-512",
        "SHAKE128", "SHAKE256", "RIPEMD160", "SM3", "WHIRLPOOL", "BLAKE2b512", "BLAKE2s256"};
    int bad = 0;

    for (size_t i = 0; i < sizeof digests / sizeof digests[0]; i++) {
        CX_METHOD EVP_MD *digest = cx_digest(digests[i]);
        struct cx_digest_context c = {.digest = digest};
        char name[CX_NAME];

        if (digest == NULL) {
            ERR_clear_error();
            continue;
        }
        cx_common_name(digests[i], name);
        c.xof_length = cx_is_xof(c.digest) ? 512 : 0; /* long enough to squeeze more than one block */
        bad |= cx_show(name, cx_digest_seal, NULL, &c, 0);
        cx_digest_free(digest);
    }
    return bad;
}

static int cx_show_macs(void)
{
    int bad = 0;

    for (size_t i = 0; i < sizeof cx_macs / sizeof cx_macs[0]; i++) {
        struct cx_mac_context c = {.mac = &cx_macs[i]};

        cx_part(c.mac->name, "key", c.key, c.mac->key_length);
        cx_part(c.mac->name, "nonce", c.nonce, sizeof c.nonce);
        c.keyed = cx_mac_new(&c);
        if (c.keyed != NULL) {
            bad |= cx_show(c.mac->name, cx_mac_seal, NULL, &c, 0);
        }
        cx_mac_free(c.keyed);
    }
    return bad;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Numbers                                                                                                            */

/* Powers modulo an odd number of that size, with and without the constant-time code, and the plain operations. */
static int cx_numbers_of(int bits, BN_CTX *ctx, struct cx_sha256 *hash)
{
    uint8_t bytes[512];
    size_t size = (size_t)bits / 8;
    BIGNUM *modulus, *base, *exponent, *result = BN_new(), *rest = BN_new();
    int good;

    cx_stream("numbers", bytes, sizeof bytes);
    bytes[0] |= 0x80;
    bytes[size - 1] |= 1;
    modulus = BN_bin2bn(bytes, (int)size, NULL);
    base = BN_bin2bn(bytes + 7, (int)size - 1, NULL);
    exponent = BN_bin2bn(bytes + 100, 12, NULL);
    good = modulus != NULL && base != NULL && exponent != NULL && result != NULL && rest != NULL
        && BN_mod_exp_mont(result, base, exponent, modulus, ctx, NULL)
        && BN_mod_exp_mont_consttime(rest, base, exponent, modulus, ctx, NULL) && BN_cmp(result, rest) == 0
        && BN_mul(rest, base, modulus, ctx) && BN_sqr(result, base, ctx) && BN_sub(rest, rest, result)
        && BN_add(rest, rest, base) && BN_div(result, rest, rest, modulus, ctx) && BN_mul(result, rest, base, ctx)
        && BN_mod_exp_mont_word(result, 3, exponent, modulus, ctx, NULL);
    if (good) {
        int n = BN_bn2bin(rest, bytes);

        cx_sha256_update(hash, bytes, (size_t)n);
    }
    BN_free(modulus);
    BN_free(base);
    BN_free(exponent);
    BN_free(result);
    BN_free(rest);
    return good;
}

#ifndef OPENSSL_NO_EC2M
static int cx_binary_field(BN_CTX *ctx, struct cx_sha256 *hash)
{
    static const int polynomial[] = {283, 12, 7, 5, 0, -1};
    uint8_t bytes[72];
    BIGNUM *a, *b, *r = BN_new();
    int good;

    cx_stream("binary", bytes, sizeof bytes);
    a = BN_bin2bn(bytes, 35, NULL);
    b = BN_bin2bn(bytes + 36, 35, NULL);
    good = a != NULL && b != NULL && r != NULL && BN_GF2m_mod_mul_arr(r, a, b, polynomial, ctx)
        && BN_GF2m_mod_sqr_arr(r, r, polynomial, ctx);
    if (good) {
        int n = BN_bn2bin(r, bytes);

        cx_sha256_update(hash, bytes, (size_t)n);
    }
    BN_free(a);
    BN_free(b);
    BN_free(r);
    return good;
}
#endif

/* Sizes with 2 to 64 words: Montgomery multiplication has code of its own for multiples of 4 and 8 words, and for some
 * fixed sizes. */
static int cx_show_numbers(void)
{
    static const int bits[] = {64, 96, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 768, 1024, 1536, 2048, 3072};
    BN_CTX *ctx = BN_CTX_new();
    struct cx_sha256 hash;
    char text[17];
    int good = ctx != NULL;

    cx_sha256_init(&hash);
    for (size_t i = 0; good && i < sizeof bits / sizeof bits[0]; i++) {
        good = cx_numbers_of(bits[i], ctx, &hash);
    }
#ifndef OPENSSL_NO_EC2M
    good = good && cx_binary_field(ctx, &hash);
#endif
    BN_CTX_free(ctx);
    cx_sha256_hex(&hash, text, 8);
    if (!good) {
        return cx_complain("numbers");
    }
    (void)printf("numbers %s\n", text);
    return 0;
}

static int cx_show_operations(void)
{
    static const char *const names[] = {"rsa-2048-sign", "rsa-2048-verify", "ecdsa-p256-sign", "ecdsa-p256-verify",
                                        "ecdh-p256", "ecdh-p384", "ecdh-p521", "ed25519-sign", "ed25519-verify",
                                        "x25519", "x448"};
    int bad = 0;

    for (size_t i = 0; i < CX_OPERATIONS; i++) {
        for (size_t j = 0; j < sizeof names / sizeof names[0]; j++) {
            if (strcmp(names[j], cx_operations[i].name) != 0 || !cx_operation_offered(&cx_operations[i])) {
                continue;
            }
            if (!cx_operation_run(&cx_operations[i], 1)) {
                bad |= cx_complain(names[j]);
            } else {
                (void)printf("%s done\n", names[j]);
            }
        }
    }
    return bad;
}

/* 1 when anything that the build offers failed; the rest ran all the same. */
static int cx_evidence(void)
{
    int bad;

    cx_stream("data", cx_evidence_in, sizeof cx_evidence_in);
    bad = cx_show_digests() | cx_show_macs() | cx_show_ciphers() | cx_show_numbers() | cx_show_operations();
    return bad != 0 || fflush(stdout) != 0;
}

#endif
