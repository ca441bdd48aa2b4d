/* access.h - rows credential to portfolio of R11: who signed a command, and whether it may do what
 * it asks.
 *
 * Row credential: "unknown, expired or revoked" leaves the request id unused (W5); a known key that
 * lacks the kind, scope or reach does not. */
#ifndef ENGINE_STATE_ACCESS_H
#define ENGINE_STATE_ACCESS_H

#include "base/compiler.h"
#include "base/status.h"

struct engine;
struct command;
struct engine_result;
struct field;

enum access {
    ACCESS_UNKNOWN, /* no such live credential: the id stays unused */
    ACCESS_LACKING, /* the credential may not do this */
    ACCESS_GRANTED,
};

/* The account that a command of a user's credential names in its body: the first eight bytes. */
uint64_t access_account(const struct command *command);

/* Key of the duplicate set at time t (W5): the account of the live credential, or the one derived
 * from the key. False when the credential is not live. Only reads. */
CC_MUST_USE bool access_duplicate_account(const struct engine *engine,
                                          const struct command *command, uint64_t t_ns,
                                          uint64_t *account);

/* Row credential at the engine's t. For a user's command it sets applying.credential and
 * applying.account. */
CC_MUST_USE enum access access_check(struct engine *engine, const struct command *command);

/* The status of row credential for this code. */
enum status access_refusal(uint32_t code);

/* Row suspended of a command that row credential has let through: its account is suspended and the
 * code not exempt. */
CC_MUST_USE bool access_is_suspended(const struct engine *engine, const struct command *command);

/* Row portfolio of the portfolio_id at the head of a body; fills applying.portfolio. */
CC_MUST_USE enum status access_portfolio(struct engine *engine, const struct command *command);

/* The portfolio that is not CLOSED with these indexes (subaccount u32, portfolio u32), or
 * PORTFOLIO_NONE. */
CC_MUST_USE uint32_t access_open_portfolio(const struct engine *engine, uint32_t account,
                                           const uint8_t indexes[8]);

/* *credential* of the node's commands on behalf of an API key (R11): rejected_unauthorized with its
 * reason; rejected_invalid_portfolio_id when the account is not the key's. */
CC_MUST_USE enum status access_api_key(const struct engine *engine, const uint8_t credential_id[16],
                                       uint64_t account_id, uint32_t subaccount_index,
                                       struct engine_result *result);

/* The same; then sets *portfolio to the one that the body names, whatever its status,
 * PORTFOLIO_NONE when it has no row (portfolio_row.h). Or row portfolio's status: it was never
 * made. */
CC_MUST_USE enum status access_key_portfolio(const struct engine *engine,
                                             const uint8_t credential_id[16], uint64_t account_id,
                                             uint32_t subaccount_index, uint32_t portfolio_index,
                                             uint32_t *portfolio, struct engine_result *result);

/* Pads zero, bools 0 or 1, enum codes known (R11, "pads"), by the table of base/field.h: returns
 * the first field of the body that is not so, NULL: there is none. */
CC_MUST_USE const struct field *access_unclean_field(const struct command *command);

CC_MUST_USE static inline bool access_body_is_clean(const struct command *command)
{
    return access_unclean_field(command) == NULL;
}

#endif
