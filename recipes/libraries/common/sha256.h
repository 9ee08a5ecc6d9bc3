/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 after FIPS 180-4, for the workloads' own reports alone: never the one of the library under test. */
#ifndef CX_SHA256_H
#define CX_SHA256_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cx_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t block[64];
};

static inline uint32_t cx_rotr(uint32_t x, unsigned n)
{
    return (x >> n) | (x << (32 - n));
}

static inline void cx_sha256_schedule(uint32_t w[64], const uint8_t block[64])
{
    for (size_t t = 0; t < 16; t++) {
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 | (uint32_t)block[4 * t + 2] << 8
            | (uint32_t)block[4 * t + 3];
    }
    for (size_t t = 16; t < 64; t++) {
        uint32_t s0 = cx_rotr(w[t - 15], 7) ^ cx_rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
        uint32_t s1 = cx_rotr(w[t - 2], 17) ^ cx_rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);

        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
}

static inline void cx_sha256_block(uint32_t state[8], const uint8_t block[64])
{
    static const uint32_t k[64] = {
        0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
        0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
        0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
        0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u,
        0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
        0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
        0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
        0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u,
    };
    uint32_t w[64], v[8];

    cx_sha256_schedule(w, block);
    memcpy(v, state, sizeof v);
    for (size_t t = 0; t < 64; t++) {
        uint32_t s1 = cx_rotr(v[4], 6) ^ cx_rotr(v[4], 11) ^ cx_rotr(v[4], 25);
        uint32_t s0 = cx_rotr(v[0], 2) ^ cx_rotr(v[0], 13) ^ cx_rotr(v[0], 22);
        uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        uint32_t t1 = v[7] + s1 + choice + k[t] + w[t];

        memmove(v + 1, v, 7 * sizeof v[0]);
        v[4] += t1;
        v[0] = t1 + s0 + majority;
    }
    for (size_t i = 0; i < 8; i++) {
        state[i] += v[i];
    }
}

static inline void cx_sha256_init(struct cx_sha256 *hash)
{
    static const uint32_t initial[8] = {
        0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
        0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u,
    };

    memcpy(hash->state, initial, sizeof initial);
    hash->bytes = 0;
}

static inline void cx_sha256_update(struct cx_sha256 *hash, const uint8_t *data, size_t length)
{
    while (length > 0) {
        size_t used = (size_t)(hash->bytes % 64);
        size_t take = 64 - used < length ? 64 - used : length;

        memcpy(hash->block + used, data, take);
        hash->bytes += take;
        data += take;
        length -= take;
        if (used + take == 64) {
            cx_sha256_block(hash->state, hash->block);
        }
    }
}

static inline void cx_sha256_final(struct cx_sha256 *hash, uint8_t out[32])
{
    static const uint8_t padding[64] = {0x80};
    uint64_t bits = hash->bytes * 8;
    uint8_t length[8];

    for (size_t i = 0; i < 8; i++) {
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    cx_sha256_update(hash, padding, 1 + (size_t)((119 - hash->bytes % 64) % 64));
    cx_sha256_update(hash, length, sizeof length);
    for (size_t i = 0; i < 32; i++) {
        out[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
    }
}

/* The first `bytes` bytes of the digest as hex; text needs 2 * bytes + 1. Ends the hash. */
static inline void cx_sha256_hex(struct cx_sha256 *hash, char *text, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    uint8_t digest[32];

    cx_sha256_final(hash, digest);
    for (size_t i = 0; i < bytes; i++) {
        text[2 * i] = digits[digest[i] >> 4];
        text[2 * i + 1] = digits[digest[i] & 15];
    }
    text[2 * bytes] = '\0';
}

#endif
