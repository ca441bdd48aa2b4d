/* Reads that take more than a turn (roles.md, Flow control; wire.md W7): a deep page delays
 * only itself, so many of them stay within bounds, and none of their buffers is lost. */
#include "base/problem.h"
#include "check.h"
#include "engine/state/state.h"
#include "node/core_rig.h"

enum {
    LINKS = 2,
    SLOTS = 64, /* of queries and replies: the credits of a link */
    ROWS = 1 << 16,
    FILLS = 45000, /* of one account: a page at the end of them takes five turns */
    ACCOUNT = 1,
    TURNS = 400,
    PORTFOLIOS = 3500, /* of one account: 28,000 rows */
    ADDRESSES = 8,
};

/* Fills of one account straight into the history: only their number matters here. */
static void add_fills(void)
{
    struct history_ring *fills = &core_rig.core.follower.sink.history->fills.fills;

    for (uint32_t n = 0; n < FILLS; n++) {
        struct fill_row *row = history_ring_add(fills, ACCOUNT, 100 + n, 0);
        row->account_id = ACCOUNT;
        row->asset_id = 1;
        row->price = n;
    }
}

static void rig_make(void)
{
    static const char *const no_keys[] = { NULL };

    core_rig_make_with(&(struct core_rig_options){ .disk_seed = 3,
                                                   .accounts = 8192,
                                                   .credentials = 256,
                                                   .engine = no_keys,
                                                   .link_count = LINKS,
                                                   .slots = SLOTS,
                                                   .history_rows = ROWS,
                                                   .has_no_snapshots = true });
    core_rig_start();
    core_rig_settle();
    add_fills();
}

static void rig_free(void)
{
    core_destroy(&core_rig.core);
    core_rig_free();
}

/* Eight queries in a row are of one address. */
static uint64_t address_of(uint64_t token)
{
    return token / 8 % ADDRESSES;
}

/* Ten fills behind `offset` others. */
static void send_query(struct core_rig_link *link, uint64_t token, uint64_t offset)
{
    struct query *query = ring_claim(&link->queries, 1);

    CHECK(query != NULL);
    *query = (struct query){ .token = token,
                             .kind = QUERY_fills,
                             .account_id = ACCOUNT,
                             .subaccount_index = 0,
                             .portfolio_index = QUERY_ANY_INDEX,
                             .pin = -1,
                             .limit = 10,
                             .address = address_of(token),
                             .offset = offset,
                             .status = QUERY_ANY_STATUS };
    ring_publish(&link->queries);
}

/* A reply is a right page, or not_ready because too many are in progress. True: a page. */
static bool check_reply(struct core_rig_link *link, const struct reply *reply, uint64_t offset)
{
    if (reply->problem != PROBLEM_none) {
        CHECK(reply->problem == PROBLEM_not_ready && reply->cause == REPLY_LONG);
        CHECK(reply->buffer == REPLY_NO_BUFFER);
        return false;
    }
    const struct row_fill *rows =
        (const struct row_fill *)(const void *)reply_pool_at(&link->pool, reply->buffer);
    CHECK(reply->row_count == 10);
    for (uint32_t k = 0; k < 10; k++)
        CHECK(rows[k].price == FILLS - 1 - offset - k);
    reply_pool_free(&link->pool, reply->buffer);
    return true;
}

/* The token of the next reply, UINT64_MAX: there is none. */
static uint64_t take_reply(struct core_rig_link *link, uint64_t offset, bool *is_page)
{
    if (ring_ready(&link->replies) == 0)
        return UINT64_MAX;
    struct reply reply = *(const struct reply *)ring_at(&link->replies, 0);
    ring_release(&link->replies, 1);
    *is_page = check_reply(link, &reply, offset);
    return reply.token;
}

/* Records came at the time that it is: 1,000 rows in the first turn, 20,000 in the others. */
static void check_while_records_come(void)
{
    struct core_rig_link *link = &core_rig.links[0];
    bool is_page;

    send_query(link, 1, 44000);
    for (int turn = 1; turn <= 4; turn++) {
        CHECK(ring_ready(&link->replies) == 0);
        CHECK(core_follow(&core_rig.core) > 0);
    }
    CHECK(take_reply(link, 44000, &is_page) == 1 && is_page);
}

/* W7: 10,000 rows in the first turn and twice as many in each that follows, so 44,000 and ten take
 * three; those behind go on at once. */
static void check_deep_page(void)
{
    struct core_rig_link *link = &core_rig.links[0];
    bool is_page;

    send_query(link, 1, 44000);
    send_query(link, 2, 0);
    CHECK(core_follow(&core_rig.core) > 0);
    CHECK(take_reply(link, 0, &is_page) == 2 && is_page); /* it overtook the deep one */
    for (int turn = 2; turn <= 3; turn++) {
        CHECK(ring_ready(&link->replies) == 0);
        send_query(&core_rig.links[1], 3, 0);
        CHECK(core_follow(&core_rig.core) > 0);
        CHECK(take_reply(&core_rig.links[1], 0, &is_page) == 3 && is_page);
    }
    CHECK(((const struct reply *)ring_at(&link->replies, 0))->rows_visited == 44010);
    CHECK(take_reply(link, 44000, &is_page) == 1 && is_page);
    CHECK(core_follow(&core_rig.core) == 0); /* nothing is left, the thread may sleep */
}

/* Eight deep ones use the turn's rows up: a page of the front behind them is answered even so. */
static void check_behind_deep(void)
{
    struct core_rig_link *link = &core_rig.links[0];
    uint32_t answered = 0;
    bool is_page;

    for (uint64_t k = 0; k < 8; k++)
        send_query(link, k, 44000);
    send_query(link, 9, 0);
    CHECK(core_follow(&core_rig.core) > 0);
    CHECK(take_reply(link, 0, &is_page) == 9 && is_page);
    for (int turn = 0; turn < TURNS && answered < 8; turn++) {
        CHECK(core_follow(&core_rig.core) > 0);
        while (take_reply(link, 44000, &is_page) != UINT64_MAX) {
            CHECK(is_page);
            answered++;
        }
    }
    CHECK(answered == 8);
}

/* As many deep ones as there are credits, of eight addresses: half of the buffers at most are
 * theirs, the last address has one too, the others are told so at once, and pages that are not so
 * deep are answered in their turn all the while. */
static void check_many_deep(void)
{
    /* While the double of what it has is below what is left of 32, 24, 16, 10, 6, 4, 2 and 1. */
    static const uint32_t wanted[ADDRESSES] = { 8, 8, 6, 4, 2, 2, 1, 1 };
    uint32_t aside[ADDRESSES] = { 8, 8, 8, 8, 8, 8, 8, 8 };
    struct core_rig_link *link = &core_rig.links[0], *other = &core_rig.links[1];
    uint32_t answered = 0, pages = 0, front = 0;
    bool is_page;

    for (uint64_t k = 0; k < SLOTS; k++)
        send_query(link, k, 44000);
    for (int turn = 0; turn < 2; turn++) { /* a turn begins 44: four use it up, 40 spare ones */
        CHECK(core_follow(&core_rig.core) > 0);
        CHECK(ring_ready(&link->queries) == (turn == 0 ? SLOTS - 44 : 0));
        for (;; answered++) {
            uint64_t token = take_reply(link, 44000, &is_page);
            if (token == UINT64_MAX)
                break;
            CHECK(!is_page);
            aside[address_of(token)]--;
        }
    }
    CHECK(answered == SLOTS - FOLLOWER_ASIDE_MAX);
    CHECK(memcmp(aside, wanted, sizeof aside) == 0);
    for (int turn = 0; turn < TURNS && answered < SLOTS; turn++) {
        send_query(other, 7, 0);
        send_query(link, 1000, 5000);
        CHECK(core_follow(&core_rig.core) > 0);
        CHECK(take_reply(other, 0, &is_page) == 7 && is_page);
        uint32_t here = 0;
        while (ring_ready(&link->replies) != 0) {
            const struct reply *next = ring_at(&link->replies, 0);
            bool is_front = next->token == 1000;
            (void)take_reply(link, is_front ? 5000 : 44000, &is_page);
            CHECK(is_page);
            here += is_front;
            answered += !is_front;
            pages += !is_front;
        }
        CHECK(here == 1);
        front++;
    }
    CHECK(pages == FOLLOWER_ASIDE_MAX);
    /* 32 pages of 44,010 rows, half of 40,000 a turn for them */
    CHECK(front >= 32 && front <= 100);
    CHECK(published_get(&core_rig.core.follower.counters.given_up) == SLOTS - FOLLOWER_ASIDE_MAX);
}

static void ask_all(enum query_kind kind, uint64_t token, uint32_t account)
{
    struct core_rig_link *link = &core_rig.links[0];
    struct query *query = ring_claim(&link->queries, 1);

    CHECK(query != NULL);
    *query = (struct query){ .token = token,
                             .kind = (uint16_t)kind,
                             .account_id = account,
                             .subaccount_index = QUERY_ANY_INDEX,
                             .portfolio_index = QUERY_ANY_INDEX,
                             .pin = -1,
                             .address = token };
    ring_publish(&link->queries);
}

/* All of the account's portfolios, or its one subaccount with them. */
static void check_whole(const struct reply *reply)
{
    const uint8_t *rows = reply_pool_at(&core_rig.links[0].pool, reply->buffer);

    CHECK(reply->problem == PROBLEM_none && reply->rows_visited == 8 * PORTFOLIOS);
    if (reply->kind == QUERY_subaccounts) {
        const struct row_subaccount *row = (const void *)rows;
        CHECK(reply->row_count == 1 && row->portfolio_count == PORTFOLIOS);
        return;
    }
    CHECK(reply->row_count == PORTFOLIOS);
    for (uint32_t i = 0; i < PORTFOLIOS; i++)
        CHECK(((const struct row_balance *)(const void *)rows)[i].portfolio_index == i);
}

/* Balances and subaccounts of an account with 3,500 portfolios, 28,000 rows, take three steps of
 * 10,000 or more. What comes behind them does not wait for that, and each of them is whole. */
static void check_many_portfolios(void)
{
    enum { LISTS = 8 };
    static const enum query_kind kinds[] = { QUERY_balances, QUERY_subaccounts };
    static const uint8_t no_label[ACCOUNT_LABEL_BYTES];
    struct engine *engine = core_rig.core.replica;
    struct core_rig_link *link = &core_rig.links[0];

    uint32_t account = account_add(engine, no_label);
    for (uint32_t n = 1; n < PORTFOLIOS; n++)
        (void)portfolio_add(engine, engine->accounts.rows[account].subaccount_head, "");
    for (uint32_t k = 0; k < CC_COUNT(kinds); k++) {
        uint64_t left = LISTS, turns = 0;
        for (uint64_t n = 0; n < LISTS; n++)
            ask_all(kinds[k], n, account);
        ask_all(QUERY_positions, LISTS, account); /* of an account that holds nothing: no cost */
        for (; left != 0; turns++) {
            CHECK(core_follow(&core_rig.core) > 0 && turns < 1000);
            uint64_t ready = ring_ready(&link->replies);
            for (uint64_t n = 0; n < ready; n++) {
                const struct reply *reply = ring_at(&link->replies, n);
                if (reply->kind == QUERY_positions)
                    CHECK(turns == 0 && n == 0 && reply->row_count == 0);
                else
                    check_whole(reply);
                left -= reply->kind != QUERY_positions;
                reply_pool_free(&link->pool, reply->buffer);
            }
            CHECK(turns != 0 || ready == 1);
            ring_release(&link->replies, ready);
        }
        CHECK(turns >= 3);
    }
}

/* The reply to one query, whose buffer has come back. */
static struct reply ask_one(const struct query *query)
{
    struct core_rig_link *link = &core_rig.links[0];
    struct query *sent = ring_claim(&link->queries, 1);

    CHECK(sent != NULL);
    *sent = *query;
    ring_publish(&link->queries);
    for (int turns = 0; ring_ready(&link->replies) == 0 && turns < 10; turns++)
        (void)core_follow(&core_rig.core);
    CHECK(ring_ready(&link->replies) == 1);
    struct reply reply = *(const struct reply *)ring_at(&link->replies, 0);
    if (reply.buffer != REPLY_NO_BUFFER)
        reply_pool_free(&link->pool, reply.buffer);
    ring_release(&link->replies, 1);
    return reply;
}

/* W7: a list of portfolios that outgrows an answer is refused, and its parts are answered. */
static void check_too_many_portfolios(void)
{
    struct engine *engine = core_rig.core.replica;
    uint32_t account = engine->accounts.count - 1; /* of check_many_portfolios */
    uint32_t room = REPLY_BUFFER_BYTES / sizeof(struct row_balance);
    struct query query = { .kind = QUERY_balances,
                           .account_id = account,
                           .subaccount_index = QUERY_ANY_INDEX,
                           .portfolio_index = QUERY_ANY_INDEX,
                           .pin = -1 };

    uint32_t other = subaccount_add(engine, account);
    uint32_t added = 1; /* a subaccount has one */
    for (; PORTFOLIOS + added < room; added++)
        (void)portfolio_add(engine, other, "");
    struct reply reply = ask_one(&query);
    CHECK(reply.problem == PROBLEM_none && reply.row_count == room);
    (void)portfolio_add(engine, other, "");
    reply = ask_one(&query);
    CHECK(reply.problem == PROBLEM_invalid_parameter && reply.buffer == REPLY_NO_BUFFER);
    query.subaccount_index = 1;
    reply = ask_one(&query);
    CHECK(reply.problem == PROBLEM_none && reply.row_count == added + 1);
    query.portfolio_index = added;
    reply = ask_one(&query);
    CHECK(reply.problem == PROBLEM_none && reply.row_count == 1);
    query.offset = 1;
    reply = ask_one(&query);
    CHECK(reply.problem == PROBLEM_none && reply.row_count == 0);
    query.subaccount_index = query.portfolio_index = QUERY_ANY_INDEX;
    for (uint32_t seen = 0; seen < room + 1; seen += 1000) { /* in parts it is all there */
        query.offset = seen;
        query.limit = 1000;
        reply = ask_one(&query);
        uint32_t left = room + 1 - seen;
        CHECK(reply.problem == PROBLEM_none && reply.row_count == (left < 1000 ? left : 1000));
    }
    query.kind = QUERY_subaccounts; /* the account has two */
    for (uint32_t offset = 0; offset < 3; offset++) {
        query.offset = offset;
        query.limit = 1;
        CHECK(ask_one(&query).row_count == (offset < 2));
    }
    query = (struct query){ .kind = QUERY_balances,
                            .account_id = account,
                            .subaccount_index = 1,
                            .portfolio_index = QUERY_ANY_INDEX,
                            .pin = -1 };
    query.portfolio_index = added + 1;
    reply = ask_one(&query);
    CHECK(reply.problem == PROBLEM_none && reply.row_count == 0);
    query.kind = QUERY_subaccounts;
    reply = ask_one(&query);
    CHECK(reply.problem == PROBLEM_none && reply.row_count == 1);
}

/* A page whose place is dropped while it is aside is refused, not cut. */
static void check_overrun(void)
{
    struct history_ring *fills = &core_rig.core.follower.sink.history->fills.fills;
    struct core_rig_link *link = &core_rig.links[0];

    send_query(link, 9, 44000);
    CHECK(core_follow(&core_rig.core) > 0);
    for (uint32_t n = 0; n < ROWS; n++)
        CHECK(history_ring_add(fills, 2, 200000 + n, 0) != NULL);
    CHECK(core_follow(&core_rig.core) > 0);
    CHECK(ring_ready(&link->replies) == 1);
    const struct reply *reply = ring_at(&link->replies, 0);
    CHECK(reply->problem == PROBLEM_not_ready && reply->cause == REPLY_NOT_KEPT);
    ring_release(&link->replies, 1);
    for (uint32_t k = 0; k < REPLY_BUFFERS; k++) /* every buffer has come back */
        CHECK(reply_pool_alloc(&link->pool) != REPLY_NO_BUFFER);
}

int main(void)
{
    rig_make();
    check_while_records_come();
    clock_advance(&core_rig.clock, FOLLOWER_BUSY_FOR_NS);
    check_deep_page();
    check_behind_deep();
    check_many_deep();
    check_many_portfolios();
    check_too_many_portfolios();
    check_overrun();
    rig_free();
    return 0;
}
