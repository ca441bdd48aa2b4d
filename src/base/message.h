/* message.h - the messages of writes between roles: command and answer (reads: query_message.h).
 *
 *   net ── command ring (1..34 slots) ──> matcher
 *   net <── answer ring (1 slot) ──────── matcher
 *
 * Order. As in the ring. An answer leaves net only when durable_seq >= release_sequence.
 * Owner. The producer owns a message until it is published, then the consumer until it is released
 *        (ring.h).
 * Units. Times are unix ns, ticks are the cycle counter. The *_ticks deltas count from
 *        received_ticks and saturate. */
#ifndef BASE_MESSAGE_H
#define BASE_MESSAGE_H

#include "base/compiler.h"
#include "base/request.h"

enum {
    MESSAGE_SLOT_BYTES = 128,
    COMMAND_SLOTS_MAX = 34, /* a batch of 64 items with key and signature */
    MESSAGE_ITEMS_MAX = 64, /* items of a batch (W3, code 8) */
};

enum command_kind { COMMAND_UNSIGNED, COMMAND_SIGNED, COMMAND_PASSKEY };

enum command_flag {
    /* The session_pub of codes 11 to 13 is a canonical point of full order (W4). Follower, recovery
     * and replay recompute it from the record. */
    COMMAND_SESSION_KEY_VALID = 1,
    /* A journalled command that is applied again: the window check and the peek are skipped. */
    COMMAND_REPLAYED = 2,
    /* The answer must show the resulting order (X-Ack: full, the binary acknowledgement). Set on
     * live commands only: it is not journalled and changes no outcome. */
    COMMAND_WANTS_EVIDENCE = 4,
    COMMAND_MASTER_KEY_VALID = 8, /* likewise the public_key of codes 16, 19, 28 and 30 */
};

/* One request on its way to the engine. Its parts follow the header without gaps: payload (kind 0:
 * the body alone), public key, signature (64 bytes; none for kind 0), extra. */
struct command {
    uint64_t t_ns;          /* engine time; the matcher stamps it */
    uint16_t code;          /* enum request_type */
    uint8_t kind;           /* enum command_kind */
    uint8_t flags;          /* enum command_flag */
    uint16_t payload_bytes; /* multiple of 8 */
    uint16_t key_bytes;     /* 0, 32 or 33 */
    uint16_t extra_bytes;   /* of a passkey its assertion; codes 14, 33, 34: then 32 of a hash */
    uint16_t slot_count;    /* ring slots of this message */
    uint16_t signer_role;   /* enum operator_role, codes 1000-1099; else 0 */
    uint16_t zero;
    uint64_t duplicate_account; /* W5: key of the duplicate set where no account is named, else 0 */
    uint64_t request_hash;      /* mix_id(hash_key, account, request id) */
    uint64_t target_hash;       /* mix_id(hash_key, account, order_id of codes 1, 2, 3, 7) */
    uint64_t token; /* set by net: names connection and request, returned in the answer */
    uint64_t received_ticks;
    uint32_t verified_ticks; /* delta: signature verified */
    uint32_t pushed_ticks;   /* delta: written to the ring */
    uint64_t armed_sequence; /* of a 2011 of a net thread: that set the arm it ends; else 0 */
    uint8_t bytes[];
};

static_assert(sizeof(struct command) == 80, "an order fits two slots: 80 + 72 + 32 + 64 <= 256");
static_assert(80 + REQUEST_FRAME_MAX <= COMMAND_SLOTS_MAX * MESSAGE_SLOT_BYTES, "largest batch");

enum { SIGNATURE_BYTES = 64, SECRET_HASH_BYTES = 32 };

static inline const uint8_t *command_payload(const struct command *command)
{
    return command->bytes;
}

/* Returns the body: the bytes after Header and RequestId, or the whole payload of an unsigned
 * command. */
static inline const uint8_t *command_body(const struct command *command)
{
    return command->bytes + (command->kind == COMMAND_UNSIGNED ? 0 : REQUEST_BODY_AT);
}

static inline uint32_t command_body_bytes(const struct command *command)
{
    uint32_t before = command->kind == COMMAND_UNSIGNED ? 0 : REQUEST_BODY_AT;
    return command->payload_bytes - before;
}

/* Returns the 16 bytes of the request id; NULL for an unsigned command. */
static inline const uint8_t *command_request_id(const struct command *command)
{
    return command->kind == COMMAND_UNSIGNED ? NULL : command->bytes + REQUEST_HEADER_BYTES;
}

static inline const uint8_t *command_key(const struct command *command)
{
    return command->bytes + command->payload_bytes;
}

static inline uint32_t command_signature_bytes(const struct command *command)
{
    return command->kind == COMMAND_UNSIGNED ? 0 : SIGNATURE_BYTES;
}

static inline const uint8_t *command_signature(const struct command *command)
{
    return command_key(command) + command->key_bytes;
}

static inline const uint8_t *command_extra(const struct command *command)
{
    return command_signature(command) + command_signature_bytes(command);
}

/* Returns the bytes of header and all parts, without slot padding. */
static inline uint32_t command_bytes(const struct command *command)
{
    return (uint32_t)sizeof *command + command->payload_bytes + command->key_bytes +
           command_signature_bytes(command) + command->extra_bytes;
}

/* Returns the ring slots of a command whose parts add up to `part_bytes`. */
static inline uint32_t command_slots(uint32_t part_bytes)
{
    return ((uint32_t)sizeof(struct command) + part_bytes + MESSAGE_SLOT_BYTES - 1) /
           MESSAGE_SLOT_BYTES;
}

enum answer_member {
    ANSWER_HAS_ACCOUNT = 1, /* account_id */
    ANSWER_HAS_ID =
        2, /* id: of the session, key or withdrawal made; 14: of the device key that ended */
    ANSWER_HAS_EXPIRY = 4,    /* expires_at_ns */
    ANSWER_HAS_ORIGINAL = 8,  /* original_status, original_processed_at_ns */
    ANSWER_HAS_ORDER = 16,    /* order_status, remaining, filled, filled_notional */
    ANSWER_HAS_AHEAD = 32,    /* quantity_ahead: only if the order rests */
    ANSWER_HAS_MARKET = 64,   /* best_bid, best_ask, book_seq, price_decimals */
    ANSWER_HAS_INDEXES = 128, /* subaccount_index, portfolio_index: codes 22 and 24 */
};

struct answer {
    uint64_t token;
    uint64_t sequence;         /* 0: rejected before it was sequenced */
    uint64_t release_sequence; /* the answer may leave when durable_seq reaches it */
    uint64_t processed_at_ns;
    union {
        struct {
            union {
                struct {
                    union {
                        uint64_t original_processed_at_ns;
                        uint64_t retry_after_ms; /* of rejected_rate_limited */
                    };
                    uint64_t account_id;
                    union {
                        uint64_t expires_at_ns;
                        struct { /* ANSWER_HAS_INDEXES; code 36: pin, enum ack_key */
                            uint32_t subaccount_index;
                            uint32_t portfolio_index;
                        };
                    };
                    uint8_t id[16];
                };
                struct { /* ANSWER_HAS_ORDER; raw quantities, micro-USDC */
                    uint64_t remaining;
                    uint64_t filled;
                    uint64_t filled_notional;
                    uint64_t quantity_ahead; /* in its level's queue, dead orders included (R3) */
                    uint64_t book_handle;    /* of the book's single orders; 0: it does not rest */
                };
            };
            uint64_t best_bid; /* raw price, 0: that side is empty */
            uint64_t best_ask;
            uint64_t book_seq;
        };
        uint8_t results[MESSAGE_ITEMS_MAX]; /* of a batch: enum status of each item */
    };
    uint64_t received_ticks;
    uint32_t verified_ticks; /* deltas, copied from the command */
    uint32_t pushed_ticks;
    uint32_t sequenced_ticks; /* delta: popped from the ring and stamped */
    uint32_t matched_ticks;   /* delta: applied */
    uint16_t code;
    uint8_t status; /* enum status */
    uint8_t reason; /* enum reason */
    union {
        uint8_t original_status; /* ANSWER_HAS_ORIGINAL: enum status */
        uint8_t rule;            /* else: enum operator_rule that a refused operator code breaks */
    };
    uint8_t members; /* enum answer_member bits */
    union {
        uint8_t order_status; /* order_status number of wire.md */
        uint8_t item_count;   /* of a batch: number of `results`; 0: no item was checked */
    };
    uint8_t price_decimals; /* of the market; size_decimals = 6 - price_decimals (W1) */
};

static_assert(sizeof(struct answer) == MESSAGE_SLOT_BYTES, "one slot");

#endif
