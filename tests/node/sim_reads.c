#include "sim_reads.h"

#include "base/problem.h"
#include "base/row.h"
#include "base/row_history.h"
#include "engine/risk/judge.h"

enum { FILLS_MAX = 1000, ORDERS_MAX = 64 };

enum { SHOWN_OPEN = 0, SHOWN_PARTIALLY_FILLED = 5 }; /* order_status numbers that rest (wire.md) */

void sim_reads_ask(struct query *query, const struct traffic_sent *sent, uint64_t random)
{
    static const uint16_t kinds[] = { QUERY_order, QUERY_order, QUERY_orders, QUERY_fills,
                                      QUERY_request };
    const struct command *command = (const struct command *)(const void *)sent->bytes;

    *query = (struct query){
        .kind = kinds[random % CC_COUNT(kinds)],
        .account_id = cc_load64(command_body(command)),
        .subaccount_index = QUERY_ANY_INDEX,
        .portfolio_index = QUERY_ANY_INDEX,
        .pin = -1,
        .status = QUERY_ANY_STATUS,
        /* The page that begins with this request's own rows. */
        .before_sequence = sent->answer.sequence + 1,
    };
    query->limit = query->kind == QUERY_fills ? FILLS_MAX : ORDERS_MAX;
    memcpy(query->id, command_request_id(command), sizeof query->id);
}

/* An order only ever fills and ends: a later state never shows less than an earlier one did. */
static const char *judge_order(const struct sim_link *link, const struct reply *reply,
                               const uint8_t *rows, struct traffic_sent *sent, bool *filled)
{
    const struct query *query = &link->query;
    struct row_order row;

    memcpy(&row, rows, sizeof row);
    *filled = row.filled != 0;
    if (memcmp(row.id, query->id, sizeof row.id) != 0)
        return "another order is shown";
    bool rests = row.status == SHOWN_OPEN || row.status == SHOWN_PARTIALLY_FILLED;
    if (rests && link->query_of_ended)
        return "an order rests whose cancellation was acknowledged";
    if (reply->applied >= sent->seen_applied && row.filled < sent->seen_filled)
        return "an order has filled less than it had";
    sent->seen_applied = reply->applied;
    sent->seen_filled = row.filled;
    return row.sequence == sent->answer.sequence ? NULL : "the order has another sequence";
}

/* Before it may stand what the exchange itself placed for the account in the same command. */
static const char *judge_orders(const struct sim_link *link, const struct reply *reply,
                                const uint8_t *rows, struct traffic_sent *sent, bool *filled)
{
    struct row_order row;

    for (uint32_t k = 0; k < reply->row_count; k++) {
        memcpy(&row, rows + k * sizeof row, sizeof row);
        if (memcmp(row.id, link->query.id, sizeof row.id) == 0)
            return judge_order(link, reply, rows + k * sizeof row, sent, filled);
        if (row.sequence != sent->answer.sequence)
            break;
    }
    return "the order is not in its list";
}

/* Newest first, all at or before the placing. Those of the placing add up to what the
 * acknowledgement says was filled, which is as of the end of the command (engine/state/evidence.h):
 * work that the command caused may have taken from the order once it rested, as from a maker. */
static const char *judge_fills(const struct query *query, const struct reply *reply,
                               const uint8_t *rows, const struct traffic_sent *sent)
{
    uint64_t filled = 0, sequence = query->before_sequence;
    uint32_t index = 0;
    struct row_fill row;

    for (uint32_t k = 0; k < reply->row_count; k++) {
        memcpy(&row, rows + k * sizeof row, sizeof row);
        if (row.sequence > sequence || (row.sequence == sequence && row.index >= index))
            return "fills are out of order";
        sequence = row.sequence;
        index = row.index;
        if (row.sequence == sent->answer.sequence &&
            memcmp(row.request_id, query->id, sizeof row.request_id) == 0)
            filled += row.quantity;
    }
    if ((sent->answer.members & ANSWER_HAS_ORDER) != 0 && filled != sent->answer.filled)
        return "the fills of an order are not what was acknowledged";
    return NULL;
}

const char *sim_reads_judge(const struct sim_link *link, const struct reply *reply,
                            const uint8_t *rows, struct traffic_sent *sent, bool *filled)
{
    const struct query *query = &link->query;
    struct row_request request;

    *filled = false;
    if (reply->applied < sent->answer.sequence)
        return "it is older than what was acknowledged";
    if (reply->problem == PROBLEM_not_ready && reply->cause == REPLY_NOT_KEPT)
        return NULL;
    if (reply->problem != PROBLEM_none)
        return "what was acknowledged is not found";
    switch ((enum query_kind)query->kind) {
    case QUERY_order:
        return judge_order(link, reply, rows, sent, filled);
    case QUERY_orders:
        return judge_orders(link, reply, rows, sent, filled);
    case QUERY_fills:
        return judge_fills(query, reply, rows, sent);
    default:
        memcpy(&request, rows, sizeof request);
        return request.sequence == sent->answer.sequence && request.status == sent->answer.status
                   ? NULL
                   : "the request is shown with another outcome";
    }
}
