/* SPDX-License-Identifier: Apache-2.0 */
/* What an algorithm of nettle's is to the workload, and the list of all of them. */
#ifndef CX_NETTLE_ALGORITHM_H
#define CX_NETTLE_ALGORITHM_H

#include <nettle/nettle-meta.h>
#include <nettle/version.h>

#include "modes.h"
#include "vectors.h"

#define CX_NETTLE(major, minor) \
    (NETTLE_VERSION_MAJOR > (major) || (NETTLE_VERSION_MAJOR == (major) && NETTLE_VERSION_MINOR >= (minor)))

enum { CX_MOST = 320, CX_AAD = 20, CX_RECORD_AAD = 13, CX_TAG = 16, CX_KEY_ROOM = 64 };

/* An algorithm with its key material and contexts.
 *
 * `set_key` makes the contexts from the key; `work` does one piece and `undo` its inverse. A piece of a plain cipher goes
 * on in the stream of the piece before, from what stands in `iv`; everything else starts afresh by itself. */
struct algorithm {
    struct cx_algorithm vectors;
    char name[48];
    const struct nettle_hash *hash;
    const struct nettle_cipher *cipher;
    const struct nettle_aead *aead;
    void (*set_key)(struct algorithm *);
    long (*work)(struct algorithm *, const uint8_t *in, size_t length, uint8_t *out);
    long (*undo)(struct algorithm *, const uint8_t *in, size_t length, uint8_t *out);
    void (*operation)(struct algorithm *); /* for `bench`, where it is no bulk algorithm */
    void *context[3];
    size_t key_size;
    size_t variant;                        /* whatever the family needs: a tag's length, an index */
    size_t aad_size;
    uint8_t key[CX_KEY_ROOM];
    uint8_t first_iv[16];
    uint8_t iv[16];
    uint8_t aad[CX_AAD];
    int bulk;                              /* offered by `bench` */
    int bulk_undo;                         /* its inverse too, as <name>-decrypt */
};

static struct algorithm cx_list[CX_MOST];
static size_t cx_listed;

/* The algorithm that `bench` was asked for; NULL in the other modes. */
static const char *cx_only;

/* Whether algorithms with this in their names are needed: making keys for the others would bury what is measured. */
static inline int cx_needed(const char *part)
{
    return cx_only == NULL || strstr(cx_only, part) != NULL;
}

static inline void cx_die(const char *message, const char *name)
{
    (void)fprintf(stderr, "workload: %s: %s\n", message, name);
    exit(1);
}

static inline void *cx_context(size_t size)
{
    void *context = calloc(1, size);

    if (context == NULL) {
        cx_die("no memory for a context of", "an algorithm");
    }
    return context;
}

static long cx_seal(void *context, const uint8_t *in, size_t length, uint8_t *out)
{
    struct algorithm *a = context;

    if (a->set_key != NULL) {
        a->set_key(a);
    }
    memcpy(a->iv, a->first_iv, sizeof a->iv);
    return a->work(a, in, length, out);
}

static long cx_unseal(void *context, const uint8_t *in, size_t length, uint8_t *out)
{
    struct algorithm *a = context;

    if (a->set_key != NULL) {
        a->set_key(a);
    }
    memcpy(a->iv, a->first_iv, sizeof a->iv);
    return a->undo(a, in, length, out);
}

/* Adds an algorithm by name; the caller sets the rest. Key and nonce are made by cx_material. */
static struct algorithm *cx_new(const char *name)
{
    struct algorithm *a = &cx_list[cx_listed];

    if (cx_listed++ == CX_MOST) {
        cx_die("the list is full at", name);
    }
    (void)snprintf(a->name, sizeof a->name, "%s", name);
    a->vectors.name = a->name;
    a->vectors.seal = cx_seal;
    a->vectors.context = a;
    a->aad_size = CX_AAD;
    return a;
}

/* Key, nonce and associated data as vectors.h names them. */
static void cx_material(struct algorithm *a, size_t key_size, size_t nonce_size)
{
    a->key_size = key_size;
    cx_part(a->name, "key", a->key, key_size);
    cx_part(a->name, "nonce", a->first_iv, nonce_size);
    cx_part(a->name, "aad", a->aad, CX_AAD);
}

/* nettle writes sha3_256 where the common names have sha3-256. */
static void cx_dashes(char *name)
{
    for (; *name != '\0'; name++) {
        if (*name == '_') {
            *name = '-';
        }
    }
}

#endif
