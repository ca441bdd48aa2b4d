/* purse.h - the commands of cash and of the hierarchy for tests: short ways to send them, and to
 * look at what became of portfolios. Account n is that of host_account. */
#ifndef TESTS_ENGINE_PURSE_H
#define TESTS_ENGINE_PURSE_H

#include "keys.h"
#include "trade.h"

struct purse_place {
    uint32_t subaccount, portfolio;
};

/* Who signs: the account's session or master key, or an operator. */
enum purse_signer { PURSE_SESSION, PURSE_MASTER, PURSE_OPERATOR };

/* Any signed body; n: whose key (not of PURSE_OPERATOR). */
enum status purse_send(struct host *host, enum purse_signer signer, uint32_t n, uint16_t code,
                       const void *body, uint32_t body_bytes);

/* Code 13: session key `key` of account n. CHECKs success. */
void purse_session(struct host *host, uint32_t n, uint32_t key, uint8_t scope, int32_t pin);
/* A body signed by session key `key`, whosoever it is. */
enum status purse_send_as(struct host *host, uint32_t key, uint16_t code, const void *body,
                          uint32_t body_bytes);

/* Codes 9 and 10, by the session; the withdrawal's id is in host->result. */
enum status purse_transfer(struct host *host, uint32_t n, struct purse_place from,
                           struct purse_place to, uint64_t amount);
enum status purse_withdraw(struct host *host, uint32_t n, struct purse_place from, uint64_t amount);
/* Code 1004. */
enum status purse_settle(struct host *host, const uint8_t id[16], uint8_t outcome);
/* Code 1003 of a fresh reference. */
enum status purse_deposit(struct host *host, uint32_t n, struct purse_place to, uint64_t amount);

/* Codes 22, 23, 24 and 32, by the master key. */
enum status purse_subaccount(struct host *host, uint32_t n);
enum status purse_close_subaccount(struct host *host, uint32_t n, uint32_t subaccount);
enum status purse_portfolio(struct host *host, uint32_t n, uint32_t subaccount, const char *name);
enum status purse_close_account(struct host *host, uint32_t n);

/* Code 1005. */
enum status purse_suspend(struct host *host, uint64_t account, bool suspended);

/* Codes 2002, 2003, 2009 and 2010; `amount` and `name` of the last two. */
enum status purse_key(struct host *host, uint16_t code, struct keys_id key, uint32_t n,
                      struct purse_place place, uint64_t amount);
enum status purse_rename(struct host *host, struct keys_id key, uint32_t n,
                         struct purse_place place, const char *name);

/* CHECKs that it is there. */
struct portfolio *purse_at(const struct host *host, uint32_t n, struct purse_place place);
int64_t purse_cash(const struct host *host, uint32_t n, struct purse_place place);

/* The k-th 2104 and 2119 of the last command. CHECK that there is one. */
struct effect_cash purse_row(const struct host *host, uint32_t k);
struct effect_account purse_told(const struct host *host, uint32_t k);

#endif
