#include "classes.h"

#include <string.h>

struct encoding {
    uint32_t mask;
    uint32_t value;
    int index;
};

enum { AES, PMULL, SHA1, SHA2, SHA512, SHA3, SM3, SM4 };

/*
 * Encodings of the Arm Architecture Reference Manual for A-profile (DDI 0487), C4.1, "Data Processing - Scalar
 * Floating-Point and Advanced SIMD". The first that fits decides. PMULL counts in its 64-bit form alone: the 8-bit
 * form belongs to plain Advanced SIMD. EOR3, RAX1, XAR and BCAX make up FEAT_SHA3, whatever an algorithm uses them for.
 */
static const struct encoding aarch64_encodings[] = {
    {0xffffcc00, 0x4e284800, AES},    /* AESE, AESD, AESMC, AESIMC */
    {0xbfe0fc00, 0x0ee0e000, PMULL},  /* PMULL, PMULL2 of doublewords */
    {0xffe0cc00, 0x5e000000, SHA1},   /* SHA1C, SHA1P, SHA1M, SHA1SU0 */
    {0xffffec00, 0x5e280800, SHA1},   /* SHA1H, SHA1SU1 */
    {0xffe0ec00, 0x5e004000, SHA2},   /* SHA256H, SHA256H2 */
    {0xffe0fc00, 0x5e006000, SHA2},   /* SHA256SU1 */
    {0xfffffc00, 0x5e282800, SHA2},   /* SHA256SU0 */
    {0xffe0f800, 0xce608000, SHA512}, /* SHA512H, SHA512H2 */
    {0xffe0fc00, 0xce608800, SHA512}, /* SHA512SU1 */
    {0xfffffc00, 0xcec08000, SHA512}, /* SHA512SU0 */
    {0xffe0fc00, 0xce608c00, SHA3},   /* RAX1 */
    {0xffc08000, 0xce000000, SHA3},   /* EOR3, BCAX */
    {0xffe00000, 0xce800000, SHA3},   /* XAR */
    {0xffe08000, 0xce400000, SM3},    /* SM3SS1 */
    {0xffe0c000, 0xce408000, SM3},    /* SM3TT1A, SM3TT1B, SM3TT2A, SM3TT2B */
    {0xffe0f800, 0xce60c000, SM3},    /* SM3PARTW1, SM3PARTW2 */
    {0xffe0fc00, 0xce60c800, SM4},    /* SM4EKEY */
    {0xfffffc00, 0xcec08400, SM4},    /* SM4E */
};

/* Instructions are little-endian in memory in both byte orders. */
static int classify_aarch64(const uint8_t *bytes, size_t size, const char *text)
{
    (void)text;
    if (size != 4) {
        return -1;
    }
    uint32_t word = bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
    /* The top byte rules out nearly every other instruction. */
    uint8_t top = bytes[3];
    if (top != 0x4e && top != 0x0e && top != 0x5e && top != 0xce) {
        return -1;
    }
    for (size_t i = 0; i < sizeof aarch64_encodings / sizeof *aarch64_encodings; i++) {
        if ((word & aarch64_encodings[i].mask) == aarch64_encodings[i].value) {
            return aarch64_encodings[i].index;
        }
    }
    return -1;
}

enum { AESNI, PCLMUL, SHA };

/* By mnemonic, with the "v" of the AVX forms taken off. */
static int classify_x86_64(const uint8_t *bytes, size_t size, const char *text)
{
    (void)bytes;
    (void)size;
    text += *text == 'v';
    if (strncmp(text, "aes", 3) == 0) {
        return AESNI;
    }
    if (strncmp(text, "pclmul", 6) == 0) {
        return PCLMUL;
    }
    if (strncmp(text, "sha1", 4) == 0 || strncmp(text, "sha256", 6) == 0) {
        return SHA;
    }
    return -1;
}

static int classify_nothing(const uint8_t *bytes, size_t size, const char *text)
{
    (void)bytes;
    (void)size;
    (void)text;
    return -1;
}

static const struct class_set known[] = {
    {{"aarch64", "aarch64_be"},
     {"aes", "pmull", "sha1", "sha2", "sha512", "sha3", "sm3", "sm4"},
     false,
     classify_aarch64},
    {{"x86_64"}, {"aesni", "pclmul", "sha"}, true, classify_x86_64},
};

static const struct class_set none = {{NULL}, {NULL}, false, classify_nothing};

const struct class_set *classes_of(const char *target)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        for (size_t j = 0; j < 3 && known[i].targets[j]; j++) {
            if (strcmp(known[i].targets[j], target) == 0) {
                return &known[i];
            }
        }
    }
    return &none;
}
