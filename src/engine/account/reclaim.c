#include "engine/account/reclaim.h"

#include "engine/state/portfolio_row.h"

#define SECOND_NS UINT64_C(1000000000)

/* A creation that is sent again must still find the account that it made: it is the only request
 * that names no id. */
static bool creation_may_come_again(const struct engine *engine, const struct account *account)
{
    return engine->t_ns - account->created_ns <= credential_keep_until(engine) - engine->t_ns;
}

static bool may_be_taken(const struct engine *engine, uint32_t id)
{
    const struct account *account = &engine->accounts.rows[id];
    const uint32_t *counts = account->counts;

    if (account->cash != 0 || account->suspended || account->cancel_queued ||
        counts[SHARE_orders] != 0 || counts[SHARE_conditionals] != 0 ||
        counts[SHARE_positions] != 0 || counts[SHARE_withdrawals] != 0 ||
        creation_may_come_again(engine, account))
        return false;
    for (uint32_t at = account->portfolio_head; at != PORTFOLIO_NONE;
         at = engine->portfolios.rows[at].account_next)
        if (!portfolio_row_is_idle(engine, at))
            return false;
    return true;
}

/* The account ends for its owner as by code 32, then its rows go. */
static void end_account(struct engine *engine, uint32_t id)
{
    struct account *account = &engine->accounts.rows[id];
    uint32_t next;

    credential_forget(engine, id);
    if (account->status != ACCOUNT_CLOSED) {
        account_move(account, ACCOUNT_CLOSED);
        account_emit(engine, id, ACCOUNT_WHAT_ACCOUNT);
    }
    disconnect_forget(engine, id);
    uint32_t portfolio = account->portfolio_head;
    for (; portfolio != PORTFOLIO_NONE; portfolio = next) {
        next = engine->portfolios.rows[portfolio].account_next;
        portfolio_give_back(engine, portfolio);
    }
    account_give_back(engine, id);
}

bool reclaim_for_new(struct engine *engine)
{
    const struct timer_heap *unfunded = &engine->accounts.unfunded;
    uint64_t life_ns = state_option(engine, OPTION_limits_unfunded_life_s) * SECOND_NS;
    uint32_t taken = 0;

    for (uint32_t i = 0; i < RECLAIM_LOOKS_MAX && taken < RECLAIM_MOST; i++) {
        uint32_t oldest = timer_heap_first(unfunded);
        /* A run of deleveraging names portfolios by their rows. */
        if (account_fits(engine) || oldest == 0 || engine->liquidation.step == LIQUIDATION_RUN ||
            engine->t_ns - timer_heap_deadline(unfunded) < life_ns)
            break;
        if (may_be_taken(engine, oldest)) {
            end_account(engine, oldest);
            taken++;
        } else {
            account_pass_over(engine, oldest);
        }
    }
    return account_fits(engine);
}
