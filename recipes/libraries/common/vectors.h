/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fixed inputs that every cell feeds to every algorithm, and the JSON that it prints of the outputs.
 *
 * Both libraries' workloads include this file, so that the same name means the same bytes in both. Nothing here
 * uses the library under test: a cell whose SHA-256 is broken must still report its outputs correctly.
 *
 * INPUTS
 *   cx_stream("label", out, n) gives the first n bytes of the label's stream: FNV-1a (64 bits) over the text
 *   "crossmatrix-1/" followed by the label is the state of a splitmix64 generator, whose numbers are written least
 *   significant byte first. No byte order, word size or alignment enters.
 *   The input of length n is the first n bytes of stream "data", whatever the algorithm.
 *
 * NAMES, and what belongs to them (NAME is the whole name; all of it from cx_stream unless another value stands here)
 *   digests            md5 sha1 sha224 sha256 sha384 sha512 sha512-224 sha512-256 sha3-224 .. sha3-512 ripemd160 md2
 *                      md4 sm3 blake2b-512 blake2s-256 whirlpool gosthash94 streebog256 streebog512;
 *                      shake128 gives 32 bytes, shake256 gives 64
 *   hmac-<digest>      key "NAME/key" 32 bytes; the whole tag
 *   cmac-aes-<bits>, cmac-des-ede3, cmac-camellia-<bits>
 *                      key "NAME/key"; the whole tag
 *   gmac-aes-<bits>    key "NAME/key", nonce "NAME/nonce" 12 bytes; the input is authenticated only; tag 16
 *   poly1305           one-time key "NAME/key" 32 bytes; tag 16. (poly1305-aes: key 32, nonce "NAME/nonce" 16)
 *   umac-<32|64|96|128> key "NAME/key" 16 bytes, nonce "NAME/nonce" 8 bytes; siphash-2-4: key 16, tag 16
 *   kmac-128, kmac-256 key 32, no customisation, tag 32 and 64; blake2b-mac, blake2s-mac: key 32, tag 64 and 32
 *   <cipher>-<mode>    cipher: aes-128 aes-192 aes-256 camellia-<bits> aria-<bits> sm4 des des-ede3 des-ede blowfish
 *                      cast5 idea rc2 seed twofish-<bits> serpent-<bits>; key "NAME/key" (blowfish, cast5, rc2: 16
 *                      bytes), iv "NAME/iv" one block. Names with no mode: rc4 (16 bytes of key), chacha20
 *       ecb cbc        no padding; only lengths that are a multiple of the block
 *       ctr            iv as above but its last four bytes are ff ff ff f8, so that the low 32 bits of the counter wrap
 *                      after eight blocks; the counter is the whole block, big-endian
 *       cfb ofb cfb8 cfb1   cfb is the full-block one; cfb1 counts its length in whole bytes
 *       xts            key twice as long (64 bytes for aes-256), tweak "NAME/iv" 16 bytes; lengths of 16 and more
 *   chacha20           key "NAME/key" 32, nonce "NAME/iv" 12 bytes, 32-bit block counter starts with 0. salsa20: key 32,
 *                      nonce "NAME/iv" 8; salsa20r12 the same
 *   AEADs              <cipher>-gcm -ccm -ocb -eax, chacha20-poly1305, aes-<bits>-gcm-siv: key "NAME/key", nonce "NAME/nonce"
 *                      12 bytes, associated data "NAME/aad" 20 bytes, tag 16; the output is ciphertext, then tag
 *   aes-<bits>-siv     key "NAME/key" twice <bits>, associated data as two strings: "NAME/aad" 20 bytes, then
 *                      "NAME/nonce" 12; lengths of 1 and more; the output is ciphertext, then tag
 *   aes-<bits>-wrap    RFC 3394 with its default initial value; multiples of 8 from 16 on. aes-<bits>-wrap-pad: RFC 5649
 *   hkdf-<digest>      the input is the secret (1 byte and more); salt "NAME/salt" 16, info "NAME/info" 20; 64 bytes out
 *   pbkdf2-<digest>    the input is the password (1 and more); salt "NAME/salt" 16, 10 iterations; 64 bytes out
 *   scrypt             the input is the password (1 and more); salt "NAME/salt" 16, N=16 r=8 p=1; 64 bytes out
 *   rsa-2048-sha256    PKCS #1 v1.5 signature of the input, key in keys.h (also rsa-2048-sha1, -sha512)
 *   ed25519, ed448     private key "NAME/key" 32 and 57 bytes; the signature of the input
 *   x25519, x448       the input is one private scalar after another (32 and 56 bytes each, from 1 scalar to 3); for each:
 *                      public key, then the secret shared with the private scalar "NAME/peer"
 *   ecdh-p256, ecdh-p384, ecdh-p521
 *                      as x25519 with scalars of 32, 48 and 66 bytes, big-endian (p521: the first byte is set to 0),
 *                      the peer's scalar is "NAME/peer" (p521: first byte 0); public x, y and shared x, each padded
 *   Everything else gets a name of the same kind, lower case with dashes; one library alone has it then.
 *
 * WHICH LENGTHS
 *   CX_ALL: all of cx_lengths; CX_FEW: those up to CX_FEW_MAXIMUM that cx_few() picks, for what is costly. `block`,
 *   `minimum` and `maximum` of an algorithm leave further lengths out. Lengths that are not offered are skipped, never
 *   rounded, so that a length in a report is the length that was used.
 *
 * ALIGNMENT
 *   Each length is done several times, with input and output at other offsets from a 64-byte boundary, in place and not
 *   alternately; over neighbouring lengths all offsets 0 to 15 occur. All outputs of one length must be the same.
 */
#ifndef CX_VECTORS_H
#define CX_VECTORS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sha256.h"

#define CX_SEED "crossmatrix-1"

enum {
    CX_LONGEST = 4097,    /* of the inputs */
    CX_ROOM = 1024,       /* what an output may be longer than its input */
    CX_FEW_MAXIMUM = 1024,
    CX_GUARD = 32,        /* bytes watched on both sides of an output */
    CX_GUARD_BYTE = 0xa5,
    CX_BUFFER = 64 + 2 * CX_GUARD + CX_LONGEST + CX_ROOM
};

/* ---------------------------------------------------------------------------------------------------------------- */
/* The generator                                                                                                     */

static inline uint64_t cx_fnv1a(uint64_t state, const char *text)
{
    for (; *text != '\0'; text++) {
        state = (state ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    }
    return state;
}

/* splitmix64: increments by the golden ratio, then mixes. */
static inline uint64_t cx_next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A stream that can be read on and on, such as a fixed source of "random" numbers. */
struct cx_source {
    uint64_t state;
    uint64_t word;
    unsigned left; /* bytes of word not yet handed out */
};

static inline void cx_source_start(struct cx_source *source, const char *label)
{
    source->state = cx_fnv1a(cx_fnv1a(UINT64_C(0xcbf29ce484222325), CX_SEED "/"), label);
    source->word = 0;
    source->left = 0;
}

static inline void cx_source_read(struct cx_source *source, uint8_t *out, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (source->left == 0) {
            source->word = cx_next(&source->state);
            source->left = 8;
        }
        out[i] = (uint8_t)(source->word & 0xff);
        source->word >>= 8;
        source->left--;
    }
}

static inline void cx_stream(const char *label, uint8_t *out, size_t length)
{
    struct cx_source source;

    cx_source_start(&source, label);
    cx_source_read(&source, out, length);
}

/* cx_stream of "NAME/PART". */
static inline void cx_part(const char *name, const char *part, uint8_t *out, size_t length)
{
    char label[160];

    (void)snprintf(label, sizeof label, "%s/%s", name, part);
    cx_stream(label, out, length);
}

/* The initial value of a cipher mode: one block; for ctr its counter wraps soon (see NAMES). */
static inline void cx_iv(const char *name, uint8_t *out, size_t length)
{
    size_t n = strlen(name);

    cx_part(name, "iv", out, length);
    if (n > 4 && strcmp(name + n - 4, "-ctr") == 0 && length >= 4) {
        memset(out + length - 4, 0xff, 3);
        out[length - 1] = 0xf8;
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Lengths and placements                                                                                            */

/* Beyond 80: around multiples of the blocks of ciphers (16), digests (64, 128, 72 to 168), of the strides of vector
 * code (4, 6, 8 blocks and 128, 256, 512, 1024 bytes) and of a page. */
static const uint16_t cx_long_lengths[] = {
    95,  96,  97,  111, 112, 113, 119, 127, 128, 129, 135, 136, 137, 144, 159,  160,  161,  167,  168,  169,
    176, 191, 192, 193, 208, 239, 240, 241, 255, 256, 257, 272, 319, 320, 321,  383,  384,  385,  447,  448,
    511, 512, 513, 528, 575, 640, 767, 768, 769, 896, 1023, 1024, 1025, 1040, 1535, 1536, 1537, 2047, 2048, 2049,
    3072, 3583, 4080, 4095, 4096, 4097
};

enum {
    CX_SHORT_LENGTHS = 81, /* 0 to 80 */
    CX_LENGTHS = CX_SHORT_LENGTHS + sizeof cx_long_lengths / sizeof cx_long_lengths[0]
};

static inline size_t cx_length(size_t index)
{
    return index < CX_SHORT_LENGTHS ? index : cx_long_lengths[index - CX_SHORT_LENGTHS];
}

/* Whether a costly algorithm does this length. */
static inline int cx_few(size_t length)
{
    static const uint16_t few[] = {0, 1, 15, 16, 17, 32, 48, 56, 64, 65, 96, 112, 128, 144, 168, 1024};

    for (size_t i = 0; i < sizeof few / sizeof few[0]; i++) {
        if (few[i] == length) {
            return 1;
        }
    }
    return 0;
}

struct cx_placement {
    unsigned in;
    unsigned out; /* the same as `in` where the work is in place */
    int in_place;
};

/* The turn-th way to place the length with this index. The odd multipliers walk through all sixteen offsets of input
 * and output, in place and not, both in the short lengths and in the long ones. */
static inline struct cx_placement cx_place(size_t index, unsigned turn, int may_be_in_place)
{
    struct cx_placement placement;

    placement.in = (unsigned)((5 * index + 4 * turn + (turn != 0)) % 16);
    placement.in_place = may_be_in_place && (index + turn) % 2 == 1;
    placement.out = placement.in_place ? placement.in : (unsigned)((5 * ((index + turn) / 2) + 2 * turn) % 16);
    return placement;
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* Algorithms                                                                                                        */

/* Work on `length` bytes at `in`, write to `out` (room: length + CX_ROOM), which is `in` itself where the work is in
 * place. Returns how many bytes were written, -1 for failure. Each call starts afresh (same key, same nonce). */
typedef long cx_process(void *context, const uint8_t *in, size_t length, uint8_t *out);

/* Whether `out` of `out_length` bytes is right for the input: a signature that verifies. */
typedef int cx_check(void *context, const uint8_t *in, size_t length, const uint8_t *out, size_t out_length);

enum cx_amount { CX_ALL, CX_FEW };

struct cx_algorithm {
    const char *name;
    cx_process *seal;
    cx_process *open;      /* the inverse: gets what `seal` wrote; NULL where there is none */
    cx_check *check;       /* instead of `open` for signatures; NULL where there is none */
    void *context;
    size_t block;          /* only multiples of it; 0 and 1: any length */
    size_t minimum;        /* only lengths from it on */
    size_t maximum;        /* only lengths up to it; 0: any */
    enum cx_amount amount;
    int in_place;          /* whether out may be in */
    int authenticated;     /* whether `open` must refuse what was changed */
};

struct cx_report {
    FILE *file;
    int families;          /* printed so far */
    int defaults;
};

/* What is known of one algorithm while its lengths are done. */
struct cx_family {
    const struct cx_algorithm *algorithm;
    struct cx_sha256 all;
    int done;              /* lengths */
    int opened;            /* 1 so far, 0 once something did not come back */
    char note[160];        /* the first thing that is wrong */
};

/* One area for inputs, one for outputs, one for what was opened; and the first output of a length. */
struct cx_areas {
    uint8_t *in;
    uint8_t *out;
    uint8_t first[CX_LONGEST + CX_ROOM];
    uint8_t data[CX_LONGEST];
};

static inline struct cx_areas *cx_areas(void)
{
    static struct cx_areas areas;
    static uint8_t space[2][CX_BUFFER + 64];

    if (areas.in == NULL) {
        areas.in = space[0] + (64 - (uintptr_t)space[0] % 64) % 64;
        areas.out = space[1] + (64 - (uintptr_t)space[1] % 64) % 64;
        cx_stream("data", areas.data, sizeof areas.data);
    }
    return &areas;
}

static inline void cx_note(struct cx_family *family, unsigned alignment, const char *what, size_t length)
{
    if (family->note[0] == '\0') {
        (void)snprintf(family->note, sizeof family->note, "alignment %u %s at length %zu", alignment, what, length);
    }
}

/* Fills an area with the guard byte and returns the place at the offset in it. */
static inline uint8_t *cx_prepare(uint8_t *area, unsigned offset)
{
    memset(area, CX_GUARD_BYTE, CX_BUFFER);
    return area + 64 + offset;
}

/* Whether the bytes before the output and after the room that it may use are untouched. */
static inline int cx_guarded(const uint8_t *area, const uint8_t *out, size_t written)
{
    const uint8_t *after = out + written;

    for (size_t i = 1; i <= CX_GUARD; i++) {
        if (out[-(ptrdiff_t)i] != CX_GUARD_BYTE) {
            return 0;
        }
    }
    for (size_t i = 0; i < CX_GUARD && after + i < area + CX_BUFFER; i++) {
        if (after[i] != CX_GUARD_BYTE) {
            return 0;
        }
    }
    return 1;
}

/* One call of `process` at a placement. Returns where the output stands and its length in *written, NULL on failure. */
static inline uint8_t *cx_call(struct cx_family *family, cx_process *process, const uint8_t *data, size_t length,
                               struct cx_placement placement, long *written)
{
    struct cx_areas *areas = cx_areas();
    uint8_t *in = cx_prepare(areas->in, placement.in);
    uint8_t *out = placement.in_place ? in : cx_prepare(areas->out, placement.out);
    const uint8_t *area = placement.in_place ? areas->in : areas->out;

    memcpy(in, data, length);
    *written = process(family->algorithm->context, in, length, out);
    if (*written < 0) {
        return NULL;
    }
    if (*written > (long)(length + CX_ROOM)) {
        abort(); /* the workload's fault, and memory is overwritten already */
    }
    if (!placement.in_place && memcmp(in, data, length) != 0) {
        cx_note(family, placement.in, "changes its input", length);
    }
    if (!cx_guarded(area, out, (size_t)*written > length || !placement.in_place ? (size_t)*written : length)) {
        cx_note(family, placement.in, "writes past its output", length);
    }
    return out;
}

/* Whether the inverse gives the input back. Output and input of `open` are placed the other way round. */
static inline void cx_open(struct cx_family *family, const uint8_t *sealed, size_t sealed_length, size_t length,
                           struct cx_placement placement)
{
    struct cx_areas *areas = cx_areas();
    struct cx_placement back = {placement.out, placement.in, placement.in_place};
    long written = -1;
    const uint8_t *plain = cx_call(family, family->algorithm->open, sealed, sealed_length, back, &written);

    if (plain == NULL || written != (long)length || memcmp(plain, areas->data, length) != 0) {
        family->opened = 0;
        cx_note(family, back.in, "does not open", length);
    }
}

/* Whether a changed last byte (of the tag) is refused. */
static inline void cx_forge(struct cx_family *family, const uint8_t *sealed, size_t sealed_length, size_t length)
{
    static uint8_t forged[CX_LONGEST + CX_ROOM];
    struct cx_areas *areas = cx_areas();
    uint8_t *out = cx_prepare(areas->out, 0);

    memcpy(forged, sealed, sealed_length);
    forged[sealed_length - 1] ^= 1;
    if (family->algorithm->open(family->algorithm->context, forged, sealed_length, out) >= 0) {
        family->opened = 0;
        cx_note(family, 0, "accepts a forged tag", length);
    }
}

/* All that is done once the first output of a length is there. */
static inline void cx_verify(struct cx_family *family, size_t length, size_t written, struct cx_placement placement)
{
    const struct cx_algorithm *algorithm = family->algorithm;
    struct cx_areas *areas = cx_areas();

    if (algorithm->open != NULL) {
        cx_open(family, areas->first, written, length, placement);
    }
    if (algorithm->open != NULL && algorithm->authenticated && cx_few(length)) {
        cx_forge(family, areas->first, written, length);
    }
    if (algorithm->check != NULL
        && !algorithm->check(algorithm->context, areas->data, length, areas->first, written)) {
        family->opened = 0;
        cx_note(family, placement.in, "does not verify", length);
    }
}

/* Does one length at all its placements. Returns the output's length, -1 where the algorithm fails. */
static inline long cx_do_length(struct cx_family *family, size_t index)
{
    struct cx_areas *areas = cx_areas();
    const struct cx_algorithm *algorithm = family->algorithm;
    unsigned turns = algorithm->amount == CX_FEW ? 2 : cx_length(index) < 512 ? 4 : 3;
    size_t length = cx_length(index);
    long first = -1;

    for (unsigned turn = 0; turn < turns; turn++) {
        struct cx_placement placement = cx_place(index, turn, algorithm->in_place);
        long written = -1;
        const uint8_t *out = cx_call(family, algorithm->seal, areas->data, length, placement, &written);

        if (out == NULL) {
            cx_note(family, placement.in, "fails", length);
            return -1;
        }
        if (turn == 0) {
            first = written;
            memcpy(areas->first, out, (size_t)written);
        } else if (written != first || memcmp(areas->first, out, (size_t)first) != 0) {
            cx_note(family, placement.in, "differs", length);
        }
        if (turn == 0 || turn == turns - 1) {
            cx_verify(family, length, (size_t)first, placement);
        }
    }
    return first;
}

static inline int cx_wanted(const struct cx_algorithm *algorithm, size_t length)
{
    return length >= algorithm->minimum && (algorithm->maximum == 0 || length <= algorithm->maximum)
        && (algorithm->block < 2 || length % algorithm->block == 0)
        && (algorithm->amount == CX_ALL || cx_few(length));
}

static inline void cx_do_lengths(struct cx_family *family, FILE *file)
{
    for (size_t index = 0; index < CX_LENGTHS; index++) {
        size_t length = cx_length(index);
        struct cx_sha256 hash;
        char text[17];
        long written;

        if (!cx_wanted(family->algorithm, length) || (written = cx_do_length(family, index)) < 0) {
            continue;
        }
        cx_sha256_update(&family->all, cx_areas()->first, (size_t)written);
        cx_sha256_init(&hash);
        cx_sha256_update(&hash, cx_areas()->first, (size_t)written);
        cx_sha256_hex(&hash, text, 8);
        (void)fprintf(file, "%s\"%zu\": \"%s\"", family->done++ > 0 ? ", " : "", length, text);
    }
}

/* ---------------------------------------------------------------------------------------------------------------- */
/* The report: cx_begin, cx_default..., cx_family..., cx_end                                                          */

/* Text as a JSON string; names and versions are ASCII, what is not becomes a question mark. */
static inline void cx_json_string(FILE *file, const char *text)
{
    (void)fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\') {
            (void)fputc('\\', file);
        }
        (void)fputc(*text >= 0x20 && *text < 0x7f ? *text : '?', file);
    }
    (void)fputc('"', file);
}

static inline void cx_begin(struct cx_report *report, FILE *file)
{
    report->file = file;
    report->families = 0;
    report->defaults = 0;
    (void)fprintf(file, "{\"seed\": \"%s\", \"defaults\": {", CX_SEED);
}

/* A default of the library's own tools; all of them before the first family. */
static inline void cx_default(struct cx_report *report, const char *name, const char *value)
{
    (void)fputs(report->defaults++ > 0 ? ", " : "", report->file);
    cx_json_string(report->file, name);
    (void)fputs(": ", report->file);
    cx_json_string(report->file, value);
}

/* Does all lengths of the algorithm and prints its family. An algorithm that fails at every length has no lengths and
 * a note. */
static inline void cx_family(struct cx_report *report, const struct cx_algorithm *algorithm)
{
    struct cx_family family = {.algorithm = algorithm, .opened = 1};
    int has_inverse = algorithm->open != NULL || algorithm->check != NULL;
    char digest[65];

    (void)fputs(report->families++ > 0 ? ",\n" : "}, \"families\": [\n", report->file);
    (void)fputs("{\"algorithm\": ", report->file);
    cx_json_string(report->file, algorithm->name);
    (void)fputs(", \"lengths\": {", report->file);
    cx_sha256_init(&family.all);
    cx_do_lengths(&family, report->file);
    cx_sha256_hex(&family.all, digest, 32);
    (void)fprintf(report->file, "}, \"digest\": \"%s\", \"opened\": %s, \"note\": ", digest,
                  !has_inverse || family.done == 0 ? "null" : family.opened ? "true" : "false");
    cx_json_string(report->file, family.note);
    (void)fputc('}', report->file);
}

/* Ends the JSON. Returns whether all of it was written. */
static inline int cx_end(struct cx_report *report)
{
    (void)fputs(report->families > 0 ? "\n]}\n" : "}, \"families\": []}\n", report->file);
    return fflush(report->file) == 0 && !ferror(report->file);
}

#endif
