/* core_member.h - accounts on the exchange of core_rig.h: their commands go into the ring of its
 * net thread, and the matcher's answers are taken from it. Nobody verifies signatures there (R11):
 * that is net's. */
#ifndef TESTS_NODE_CORE_MEMBER_H
#define TESTS_NODE_CORE_MEMBER_H

#include "base/uuid.h"
#include "core_rig.h"
#include "crypto/secret.h"
#include "crypto/signer.h"

struct core_member {
    uint8_t secret[32], master[33];
    struct signer_ed25519 session;
    uint8_t api_key[16];              /* id of an API key of scope READ_WRITE, */
    uint8_t api_secret[SECRET_BYTES]; /* and what X-API-KEY takes */
    uint64_t id;
};

/* The key that core_rig configures for operator and oracle. */
extern const uint8_t core_member_operator[32];

struct core_member_request {
    uint16_t code;
    const uint8_t *body;
    uint32_t body_bytes;
    const uint8_t *key; /* NULL: unsigned */
    uint32_t key_bytes;
    const uint8_t *secret_hash; /* of code 34 */
};

/* Into the ring: nobody has taken it yet. Gives the id of a signed one. */
struct uuid core_member_send(const struct core_member_request *request);

/* What the matcher answers to the oldest command, within `turns` turns of it. */
struct answer core_member_answer(uint32_t turns);

/* Both. */
struct answer core_member_act(uint16_t code, const uint8_t *body, uint32_t body_bytes,
                              const uint8_t *key, uint32_t key_bytes);

/* An account with 1,000,000 USDC; `number` makes its keys, from 1. */
void core_member_join(struct core_member *member, uint8_t number);

/* The feed's price of BTC-PERP, raw. */
void core_member_publish(uint64_t price);

/* A GTC limit order in BTC-PERP, which must be accepted. */
struct uuid core_member_order(const struct core_member *member, uint64_t price, int64_t quantity);

#endif
