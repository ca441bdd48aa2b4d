/* relying_party.h - whose passkeys are accepted: the id that their authenticators sign and the web
 * origins that may ask for them (wire.md W4; exchange.passkey_rp_id, exchange.passkey_origins).
 *
 * Any thread; no state.
 * Bound. RELYING_PARTY_ID_MAX bytes, RELYING_PARTY_ORIGINS_MAX origins of RELYING_PARTY_ORIGIN_MAX
 *        bytes. */
#ifndef BASE_RELYING_PARTY_H
#define BASE_RELYING_PARTY_H

#include "base/compiler.h"

enum {
    RELYING_PARTY_ID_MAX = 253, /* a domain name */
    RELYING_PARTY_ORIGIN_MAX = 270,
    RELYING_PARTY_ORIGINS_MAX = 16,
    RELYING_PARTY_ERROR_BYTES = 160,
};

/* All zero: there is none, and no passkey is accepted. */
struct relying_party {
    char id[RELYING_PARTY_ID_MAX + 1];
    char origins[RELYING_PARTY_ORIGINS_MAX][RELYING_PARTY_ORIGIN_MAX + 1];
    uint32_t origin_count;
};

/* Reads the two options. On a testnet an empty id is `localhost` and empty origins are
 * `http://localhost:8080`; elsewhere there is no relying party when both are empty. Origins are
 * joined by commas; each is https, or http on localhost, and its host is the id or ends with `.`
 * and the id, as browsers demand. The id `localhost` needs a testnet: any two exchanges on one
 * machine would share it. False with the reason in *error, which begins with the option's name; an
 * origin that is refused is shown, at most 60 bytes of it. *party is then undefined. */
CC_MUST_USE bool relying_party_read(struct relying_party *party, const char *id,
                                    const char *origins, bool is_testnet,
                                    char error[RELYING_PARTY_ERROR_BYTES]);

#endif
