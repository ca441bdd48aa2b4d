/* rig.h - a real perpd in a fresh data directory, and clients with accounts: for `perp bench`, for
 * system tests and for whole-system measurements (perf/).
 *
 * Owner. One thread per struct client; a rig is started and ended by one thread.
 * Wait.  rig_start waits for the ready line, at most RIG_READY_S_MAX. */
#ifndef PERP_BENCH_RIG_H
#define PERP_BENCH_RIG_H

#include <sys/types.h>

#include "perp/request/client.h"
#include "perp/request/draft.h"
#include "perp/request/outcome.h"

enum { RIG_PATH_BYTES = 512, RIG_URL_BYTES = 64, RIG_OPTIONS_MAX = 40, RIG_READY_S_MAX = 60 };

struct rig {
    char perpd[RIG_PATH_BYTES];
    char folder[RIG_PATH_BYTES];    /* made by rig_init, holds data/ and perpd's log */
    char data[RIG_PATH_BYTES + 32]; /* data directory, whose token opens the admin pages */
    char url[RIG_URL_BYTES];
    char admin_url[RIG_URL_BYTES];
    pid_t pid; /* 0: not running */
    struct key_file operator_key, oracle_key;
    struct eip712 eip712;
};

/* An account with a session key; made through the API. */
struct rig_trader {
    uint64_t account_id;
    struct key_file session;
    char api_key[OUTCOME_TEXT_MAX];
};

/* Names the binary and makes a fresh folder below `parent`. Fails the process with a message. */
void rig_init(struct rig *rig, const char *perpd, const char *parent);

/* Starts perpd on the rig's data directory with further options (NULL-terminated). False: it ended
 * before it was ready; its log says why. */
CC_MUST_USE bool rig_start(struct rig *rig, const char *const *options);

/* Sends the signal and waits for the end; gives waitpid's status. */
int rig_end(struct rig *rig, int signal_number);

/* Reads the exchange's id, with which accounts are signed. rig_start does it. Fails the process. */
void rig_learn_exchange(struct rig *rig);

/* Removes the folder, and what a killed perpd left in memory. */
void rig_remove(struct rig *rig);

/* A connection to the public or the admin listener; fails the process when it cannot be made. */
void rig_connect(const struct rig *rig, struct client *client, bool admin);

/* Makes a stream (wire.md W9) of a connection. NULL, or what is wrong: the client's, or static. */
CC_MUST_USE const char *rig_make_stream(struct client *client);

/* Signs and sends as a binary frame, reads the outcome. False: the connection failed. */
CC_MUST_USE bool rig_send(struct rig *rig, struct client *client, struct draft *draft,
                          const struct key_file *key, struct outcome *outcome);

/* Fail the process when the exchange does not accept. */
void rig_open_account(struct rig *rig, struct client *client, struct rig_trader *trader);
void rig_deposit(struct rig *rig, struct client *client, uint64_t account_id, uint64_t amount_usdc);
void rig_oracle(struct rig *rig, struct client *client, uint16_t asset, uint64_t price_raw);

/* A signed limit order of the trader. */
struct rig_order {
    uint64_t price_raw;
    int64_t quantity_raw;
    uint64_t expiry;
    uint16_t asset;
    bool post_only;
};
void rig_order(const struct rig_trader *trader, const struct rig_order *order,
               const struct uuid *id, struct draft *draft);

/* GET of an admin or public path into `text` (closed by a zero); gives the HTTP status, 0 when the
 * connection failed. */
uint32_t rig_get(struct client *client, const char *target, const char *api_key, char *text,
                 size_t capacity);

/* An id dated `unix_ms`, of fresh random bytes. */
struct uuid rig_id(uint64_t unix_ms);
uint64_t rig_now_ns(void);

#endif
