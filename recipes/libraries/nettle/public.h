/* SPDX-License-Identifier: Apache-2.0 */
/* The list of public-key algorithms. */
#ifndef CX_NETTLE_PUBLIC_H
#define CX_NETTLE_PUBLIC_H

#include "curves.h"
#include "rsa_dsa.h"

static void add_rsa(void)
{
    add_rsa_signature("rsa-2048-sha1", rsa_sha1_work, rsa_sha1_check);
    add_rsa_signature("rsa-2048-sha256", rsa_sha256_work, rsa_sha256_check);
    add_rsa_signature("rsa-2048-sha512", rsa_sha512_work, rsa_sha512_check);
    add_rsa_operations(2048);
    add_rsa_operations(3072);
    add_rsa_operations(4096);
}

static void add_public(void)
{
    static const struct {
        const char *part;
        void (*add)(void);
    } groups[] = {
        {"rsa-", add_rsa},      {"dsa-2048", add_dsa},  {"x25519", add_x25519},
        {"x448", add_x448},     {"ed25519", add_ed25519}, {"ed448", add_ed448},
    };

    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++) {
        if (cx_needed(groups[i].part)) {
            groups[i].add();
        }
    }
    if (cx_needed("-p256")) {
        add_curve("p256", nettle_get_secp_256r1(), 32);
    }
    if (cx_needed("-p384")) {
        add_curve("p384", nettle_get_secp_384r1(), 48);
    }
    if (cx_needed("-p521")) {
        add_curve("p521", nettle_get_secp_521r1(), 66);
    }
}

#endif
