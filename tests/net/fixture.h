/* fixture.h - a net thread without the rest: rings, keyring, clock, a matcher and a follower that
 * do as they are told, and a client that talks to the protocol without a socket. */
#ifndef TESTS_NET_FIXTURE_H
#define TESTS_NET_FIXTURE_H

#include "crypto/signer.h"
#include "net/protocol.h"

enum {
    FIXTURE_SLOTS = 1024,
    FIXTURE_WIRE_BYTES = 1 << 20,
    FIXTURE_BODY_MAX = 8192,
    FIXTURE_ACCOUNT = 7,
    FIXTURE_OTHER = FIXTURE_ACCOUNT + 128, /* of other_api_key: kept texts share their place */
};

struct fixture {
    struct net_config config;
    struct ring commands, answers, queries, replies;
    struct reply_pool pool;
    struct keyring *keyring;
    struct symbols symbols; /* BTC-PERP 1, ETH-PERP 2 */
    struct clock clock;
    struct option_engine options;
    struct event_log events;
    struct private_log private_log;
    struct book_board books;
    struct book_log orders;
    struct address_claims connections_of, streams_of;
    void *memory;

    _Atomic uint64_t durable, applied;
    _Atomic bool ready;
    struct net_facts facts;

    /* The matcher. */
    uint64_t sequence;
    uint32_t command_count; /* taken so far */
    alignas(8) uint8_t last_command[COMMAND_SLOTS_MAX * MESSAGE_SLOT_BYTES];
    struct answer next_answer; /* status, reason, members, ids of the answers it gives */
    bool hold_durable;         /* durable is the test's to raise */

    /* The follower. */
    uint32_t query_count;
    struct query last_query;
    enum problem next_problem; /* of the replies it gives; PROBLEM_none: canned rows */
    enum reply_cause next_cause;
    uint32_t order_rows;  /* of a list of orders, 0: one */
    uint32_t trade_rows;  /* of history: seq 9000, 8998, .. */
    bool trades_more;     /* it has lost older ones */
    bool trades_lost;     /* history does not have them */
    uint64_t trades_stop; /* 0, or those after this seq cannot be read, as the next */
    enum reply_cause trades_cause;
    uint32_t next_visited;             /* rows that it looked at */
    uint64_t private_from, private_to; /* seqs that history has of FIXTURE_ACCOUNT; to 0: none */
    bool privates_coming;              /* what it lacks is on its way there */

    struct signer_ed25519 session;  /* seed 00 01 .. 1f, of FIXTURE_ACCOUNT, in the keyring */
    struct signer_ed25519 stranger; /* in no keyring */
    struct signer_ed25519 operator; /* exchange.operator_key */
    struct signer_ed25519 oracle;
    uint8_t master_secret[32];
    uint8_t master_key[33]; /* in the keyring */
    uint8_t api_secret[32]; /* unpinned, of FIXTURE_ACCOUNT */
    char api_key[45];
    char pinned_api_key[45];  /* pinned to subaccount 1 */
    char trading_api_key[45]; /* unpinned, READ_WRITE; the two above are READ */
    char pinned_trading_api_key[45];
    char other_api_key[45]; /* unpinned, READ, of FIXTURE_OTHER */
    struct eip712 eip712;
    uint32_t request_number; /* makes request ids */
};

/* The header that opens the admin pages. */
#define TOKEN_63      "777777777777777777777777777777777777777777777777777777777777777"
#define TOKEN         TOKEN_63 "7"
#define FIXTURE_TOKEN "Authorization: Bearer " TOKEN "\r\n"

/* Everything but the net itself, with a simulated clock or the real one. `ring_slots` is that of
 * all four rings. */
void fixture_init(struct fixture *fixture, bool simulated_clock, uint32_t ring_slots);
void fixture_free(struct fixture *fixture);

/* A private event of the account; history's are of subaccount 0. */
static inline struct private_event fixture_private(uint64_t account_id, uint64_t seq,
                                                   uint32_t subaccount)
{
    return (struct private_event){
        .account_id = account_id,
        .seq = seq,
        .sequence = seq + 1000,
        .subaccount_index = subaccount,
        .kind = PRIVATE_MMP,
        .mmp = { .market = "BTC-PERP" },
    };
}

/* The key of an API key, as it is sent. */
struct keyring_key fixture_key(const struct fixture *fixture, const char *api_key);

/* Puts a passkey of FIXTURE_ACCOUNT into the keyring. Without it no credential id is known; the
 * relying party is that of a testnet. */
void fixture_passkey(struct fixture *fixture, const uint8_t key[33], const uint8_t *credential_id,
                     size_t credential_id_bytes);

/* A command ring of more slots, while it is empty. */
void fixture_widen_commands(struct fixture *fixture, uint32_t slots);

/* Takes the commands that are there and answers each; gives their number. */
uint32_t fixture_match(struct fixture *fixture);
/* Answers the queries whose stamp is applied; gives their number. */
uint32_t fixture_follow(struct fixture *fixture);

/* A fresh UUIDv7 of the clock's time. */
void fixture_request_id(struct fixture *fixture, uint8_t id[16]);

/* Payload of a request: header, a fresh id, body. Gives its length. */
size_t fixture_payload(struct fixture *fixture, uint8_t *payload, uint16_t code, uint8_t type,
                       const void *body, size_t body_bytes);

/* Puts key and signature after the payload of `count` bytes. */
void fixture_sign(const struct fixture *fixture, uint8_t *frame, size_t count,
                  const struct signer_ed25519 *signer);

/* Frame of an Ed25519 request: payload, key, signature. */
size_t fixture_frame(struct fixture *fixture, uint8_t *frame, uint16_t code,
                     const struct signer_ed25519 *signer, const void *body, size_t body_bytes);
/* Frame of a Secp256k1 request signed by `secret`. */
size_t fixture_master_frame(struct fixture *fixture, uint8_t *frame, uint16_t code,
                            const uint8_t secret[32], const void *body, size_t body_bytes);

/* The JSON envelope of a frame. Gives its length. */
size_t fixture_envelope(char *json, const uint8_t *frame, size_t frame_bytes);

/* The body of a limit order of FIXTURE_ACCOUNT: 48 bytes. */
void fixture_order(uint8_t body[48]);

/* An HTTP POST. Gives its length. */
size_t fixture_post(char *text, size_t capacity, const char *path, const char *media,
                    const void *body, size_t body_bytes);

/* A signed limit order of FIXTURE_ACCOUNT as a binary frame in a POST. Gives its length. */
size_t fixture_order_post(struct fixture *fixture, char *text, size_t capacity);

/* A client without a socket. */
struct wire {
    struct fixture *fixture;
    struct protocol *protocol;
    struct conn *conn; /* NULL: closed by the protocol */
    char *text;        /* everything the protocol answered */
    size_t count, capacity;
    size_t read; /* what wire_answer has given so far */
    bool stuck;  /* takes no bytes: a slow reader */
};

struct protocol *fixture_protocol(struct fixture *fixture, uint32_t connections);
void fixture_protocol_free(struct protocol *protocol);
/* Frees both; CHECKs that the protocol holds nothing: no request, no output, no connection. */
void fixture_end(struct fixture *fixture, struct protocol *protocol);

void wire_open(struct wire *wire, struct fixture *fixture, struct protocol *protocol, bool admin);
/* Of the public listener, from that address (rate_limit.h). */
void wire_open_at(struct wire *wire, struct fixture *fixture, struct protocol *protocol,
                  uint64_t address);
void wire_free(struct wire *wire);

/* Passes bytes to the protocol in pieces of at most `piece` (0: one piece) and runs a turn after
 * each, matcher and follower included. */
void wire_send(struct wire *wire, const void *bytes, size_t count, size_t piece);
/* A turn without new bytes. */
void wire_turn(struct wire *wire);
/* A turn of net alone: neither matcher nor follower. */
void wire_turn_net(struct wire *wire);
/* Hands bytes over within a turn of net alone; what it answers stays in its output. */
void wire_feed(struct wire *wire, const void *bytes, size_t count);

struct wire_answer {
    int status;
    char head[1024];
    const char *body; /* in wire->text */
    size_t body_bytes;
};

/* The next complete answer; false when there is none. `no_body`: to a HEAD request. */
bool wire_answer(struct wire *wire, struct wire_answer *answer, bool no_body);

/* Does the body hold the text. */
bool wire_has(const struct wire_answer *answer, const char *text);

/* Whether it is a 429 `rate_limited`. */
bool wire_is_limited(const struct wire_answer *answer);

/* Sends an order as a frame under the signer's key, signed rightly or not, and gives the answer. */
struct wire_answer wire_order(struct wire *wire, const struct signer_ed25519 *signer, bool good);

#endif
