#include "net/response/reply_problem.h"

/* What not_ready means (roles.md, Flow control). */
static void not_ready_problem(struct problem_detail *problem, const struct reply *reply)
{
    switch ((enum reply_cause)reply->cause) {
    case REPLY_LAG:
        (void)problem_detail_set_number(problem, PROBLEM_not_ready, reply->lag_ms,
                                        "reads lag %llu ms behind",
                                        (unsigned long long)reply->lag_ms);
        return;
    case REPLY_NOT_KEPT:
        (void)problem_detail_set(
            problem, PROBLEM_not_ready, NULL,
            "the answer needs older rows than those kept in memory, which begin with "
            "sequence %llu",
            (unsigned long long)reply->kept_from);
        return;
    case REPLY_LONG:
        (void)problem_detail_set(problem, PROBLEM_not_ready, NULL,
                                 "as many long reads of this address are being answered as may be");
        return;
    case REPLY_POOL_EMPTY:
        break;
    }
    (void)problem_detail_set(problem, PROBLEM_not_ready, NULL,
                             "too many reads are being answered at the moment");
}

/* A list without a limit that outgrew its buffer. */
static void list_too_long(struct problem_detail *problem)
{
    (void)problem_detail_set(problem, PROBLEM_invalid_parameter, "subaccount_index",
                             "the list is longer than an answer may be: ask for one "
                             "subaccount_index, where that is too long for one portfolio_index");
}

/* 404 says what there is not. */
static const char *not_found_detail(const struct reply *reply)
{
    if (reply->kind == QUERY_frames)
        return "the frame is not in the journal's files: see the archive";
    if (reply->kind == QUERY_receipt)
        return "there is no receipt of this request: see journal.md, Receipts";
    return reply->kind >= QUERY_pairing_open ? "no such pairing" : "no such market";
}

/* Whose pairings are too many. */
static const char *too_many_pairings(const struct reply *reply)
{
    if (reply->cause == REPLY_OF_ACCOUNT)
        return "the account has 8 pairings open, as many as it may have";
    if (reply->cause == REPLY_OF_CLASS)
        return "accounts of this class have as many pairings open as is their share";
    return "this address has as many pairings open as is its share";
}

void reply_problem(struct problem_detail *problem, const struct reply *reply)
{
    static const char *const details[PROBLEM_END] = {
        [PROBLEM_order_not_found] = "the account has no such order",
        [PROBLEM_portfolio_not_found] = "the account has no such portfolio",
        [PROBLEM_account_not_found] = "no such account",
        [PROBLEM_request_not_found] =
            "no such request of this account was executed up to X-Sequence",
        [PROBLEM_invalid_token] = "this is not the pairing's write_token",
        [PROBLEM_pairing_already_used] =
            "this step of the pairing has been done; each is done once",
        [PROBLEM_pairing_not_deposited] = "the new device has not deposited its keys",
        [PROBLEM_pairing_expired] = "a pairing lives 120 seconds: open another",
        [PROBLEM_invalid_market] = "no such market",
        [PROBLEM_internal_error] = "the list is too long for an answer",
    };
    const char *detail = details[reply->problem];
    if (reply->problem == PROBLEM_invalid_parameter)
        list_too_long(problem);
    else if (reply->problem == PROBLEM_not_ready)
        not_ready_problem(problem, reply);
    else if (reply->problem == PROBLEM_rate_limited)
        (void)problem_detail_set_number(problem, PROBLEM_rate_limited, reply->lag_ms, "%s",
                                        too_many_pairings(reply));
    else if (reply->problem == PROBLEM_not_found)
        (void)problem_detail_set(problem, PROBLEM_not_found, NULL, "%s", not_found_detail(reply));
    else if (reply->problem == PROBLEM_internal_error && reply->kind == QUERY_receipt)
        (void)problem_detail_set(problem, PROBLEM_internal_error, NULL,
                                 "the archive cannot be read where it has this request");
    else
        (void)problem_detail_set(problem, reply->problem, NULL, "%s", detail != NULL ? detail : "");
}
