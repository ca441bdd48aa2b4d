/* sim_traffic.h - the clients of a simulated exchange: random requests, and what became of them. */
#ifndef TESTS_NODE_SIM_TRAFFIC_H
#define TESTS_NODE_SIM_TRAFFIC_H

#include "base/message.h"
#include "base/mix.h"
#include "base/status.h"
#include "base/uuid.h"
#include "crypto/secret.h"
#include "crypto/signer.h"

enum {
    TRAFFIC_ACCOUNTS = 4,
    TRAFFIC_CREDENTIALS = 512,
    TRAFFIC_SENT_MAX = 1 << 14,
    TRAFFIC_COMMAND_BYTES = 512,
    TRAFFIC_ASSET = 1,
    TRAFFIC_MID_RAW = 1000000, /* 100,000.0 USDC */
};

#define TRAFFIC_NONE UINT16_MAX
#define TRAFFIC_ALL  (UINT16_MAX - 1) /* every session of the account */

/* What a client knows of a request it sent. */
enum traffic_state {
    TRAFFIC_SENT,     /* on its way, or applied */
    TRAFFIC_ANSWERED, /* its answer waits for durability */
    TRAFFIC_ACKED,    /* the answer has left */
    TRAFFIC_REFUSED,  /* net refused it: it was never sequenced */
    TRAFFIC_LOST,     /* a crash or a closed connection came first: the outcome is unknown */
};

struct traffic_sent {
    alignas(8) uint8_t bytes[TRAFFIC_COMMAND_BYTES]; /* struct command */
    uint8_t state;                                   /* enum traffic_state */
    uint8_t account;
    bool is_retry;
    bool is_spoilt;     /* its signature is wrong on purpose */
    bool revoke_known;  /* when it was sent its credential was known to be revoked */
    bool was_live;      /* when it was sent its credential was known to be made */
    bool ended;         /* the client knows that the order is over */
    uint16_t signed_by; /* credential, or TRAFFIC_NONE */
    uint16_t makes;     /* credential that this request makes */
    uint16_t ends;      /* credential that it revokes, or TRAFFIC_ALL */
    uint32_t original;  /* the entry whose bytes these are: of no retry its own number */
    uint64_t executed;  /* of an original: sequence at which its id was consumed; 0: not known */
    uint64_t seen_filled;
    uint64_t seen_applied; /* sequence of the read that showed seen_filled */
    struct answer answer;
};

/* A session or an API key, from the request that makes it. */
struct traffic_credential {
    struct signer_ed25519 signer; /* of a session */
    uint8_t id[16];               /* of an API key */
    uint8_t secret[SECRET_BYTES]; /* of an API key */
    bool is_known;                /* the secret; a net thread has made no other for the key */
    uint8_t account;
    bool is_key;
    bool revoke_sent;
    uint64_t made;    /* sequence, 0: not known; 1: at some, for its answer was a repeated one */
    uint64_t revoked; /* sequence of the first acknowledged revocation behind `made`; 0: none */
};

struct traffic_account {
    uint8_t secret[32]; /* of the master key */
    uint8_t master[33];
    uint64_t id;       /* 0: not known yet */
    bool created;      /* the creation was sent */
    uint32_t creation; /* the entry of it */
    bool funded;
    uint8_t withdrawal[16];    /* the newest that was acknowledged; all zero: none */
    uint8_t conditional[16];   /* likewise, of conditional orders */
    uint8_t conditional_at[8]; /* its subaccount and portfolio */
    uint32_t portfolios;       /* the client has made in subaccount 0, besides the first */
    uint8_t racing;            /* requests still to be signed by `newest_revoked` */
    uint16_t newest_revoked;   /* credential */
};

struct traffic {
    uint64_t random;
    struct mix_key key;
    struct signer_ed25519 operator;
    struct signer_ed25519 oracle;
    struct traffic_account accounts[TRAFFIC_ACCOUNTS];
    struct traffic_credential credentials[TRAFFIC_CREDENTIALS];
    uint32_t credential_count;
    struct traffic_sent *sent; /* [TRAFFIC_SENT_MAX] */
    uint32_t sent_count;
    uint64_t index_raw;
    uint64_t published_ns;
    uint64_t deposits;
    bool revokes;    /* revocations are part of it */
    bool duplicates; /* so are repeated requests */
    bool rules;      /* and the whole rule book (sim_rules.c) */
    bool closes;     /* the market is closed for good at some time */
};

void traffic_init(struct traffic *traffic, uint64_t seed);
void traffic_free(struct traffic *traffic);

/* splitmix64 (Steele, Lea, Flood 2014). */
uint64_t traffic_random(struct traffic *traffic);
static inline uint64_t traffic_below(struct traffic *traffic, uint64_t bound)
{
    return traffic_random(traffic) % bound;
}

/* The next request at `now_ns`, as a new entry; NULL when TRAFFIC_SENT_MAX are used up. Its token
 * is the entry's number. */
struct traffic_sent *traffic_next(struct traffic *traffic, uint64_t now_ns);

static inline struct command *traffic_command(struct traffic_sent *sent)
{
    return (struct command *)(void *)sent->bytes;
}

/* An id that is consumed: a signed request that was sequenced behind R11's row 3. */
bool traffic_consumed(const struct traffic_sent *sent);

/* The client takes notice of an acknowledgement: accounts, credentials, orders that ended. */
void traffic_learn(struct traffic *traffic, struct traffic_sent *sent);

/* Signed by a session of the account; a request for a session when there is none. */
struct traffic_sent *traffic_by_session(struct traffic *traffic, struct traffic_account *account,
                                        uint16_t code, const uint8_t *body, uint32_t body_bytes,
                                        uint64_t now_ns);

/* ---- sim_rules.c: the rule book beyond plain orders ------------------------------------------ */

struct traffic_sent *traffic_rules(struct traffic *traffic, struct traffic_account *account,
                                   uint64_t now_ns);

/* The index before the feed's next update. */
void traffic_move_index(struct traffic *traffic);

/* ---- sim_member.c: accounts and credentials -------------------------------------------------- */

/* A signed request around `body`; the signature is made when it is sent (sim_sign.h). NULL when
 * there is no entry left. */
struct traffic_sent *traffic_compose(struct traffic *traffic, uint16_t code, const uint8_t *body,
                                     uint32_t body_bytes, const uint8_t *key, uint32_t key_bytes,
                                     uint64_t now_ns);

/* Signed by the account's master key. */
struct traffic_sent *traffic_by_master(struct traffic *traffic, struct traffic_account *account,
                                       uint16_t code, const uint8_t *body, uint32_t body_bytes,
                                       uint64_t now_ns);

/* A command that net makes for an API key, whose id goes to `key_at` of the body. NULL: the account
 * has no live key, or there is no entry left. */
struct traffic_sent *traffic_by_key(struct traffic *traffic, struct traffic_account *account,
                                    uint16_t code, const uint8_t *body, uint32_t body_bytes,
                                    uint32_t key_at);

/* A request of a member about itself: creation, sessions, keys, revocations, leverage. */
struct traffic_sent *traffic_member(struct traffic *traffic, struct traffic_account *account,
                                    uint64_t now_ns);

/* A new session, by the master key. */
struct traffic_sent *traffic_session(struct traffic *traffic, struct traffic_account *account,
                                     uint64_t now_ns);

/* A session of the account to sign with: mostly a live one. TRAFFIC_NONE when none was made. */
uint16_t traffic_signer(struct traffic *traffic, struct traffic_account *account);

/* What the acknowledgement says of credentials. */
void traffic_learn_member(struct traffic *traffic, struct traffic_sent *sent);

#endif
