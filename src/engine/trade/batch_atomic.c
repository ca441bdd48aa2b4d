#include "engine/trade/batch_atomic.h"

#include "base/rule.h"
#include "engine/risk/margin.h"
#include "engine/risk/risk.h"
#include "engine/risk/stress.h"
#include "engine/state/share_count.h"
#include "engine/trade/amend.h"
#include "engine/trade/cancel.h"
#include "engine/trade/order_plan.h"
#include "engine/trade/place.h"
#include "engine/trade/resting.h"

#define NO_ACCOUNT UINT32_MAX /* of an order that nobody finds */

/* An order that the items name or make, as they have left it so far. */
struct trial {
    uint32_t order;    /* in the table, ORDER_NONE: a new one */
    bool is_gone;      /* canceled */
    bool is_moved;     /* is not where the book has it, or is new */
    uint8_t was_flags; /* of the order before the first item that named it, ... */
    uint32_t was_tick;
    uint32_t was_account;
    uint64_t was_remaining;
    uint64_t was_stamp;
    struct order now; /* ... and after the last one */
};

/* The sides of a record before the first item moved them. */
struct kept {
    uint32_t holding;
    struct holding_side sides[2];
};

/* The check of one batch. */
struct check {
    const struct command *command;
    uint32_t count;
    uint32_t enter_count; /* items that would make an order, or enter one again */
    uint32_t trial_count;
    uint32_t kept_count;
    uint32_t open_order_count;           /* of the portfolio, before */
    uint8_t statuses[MESSAGE_ITEMS_MAX]; /* enum status */
    struct trial trials[MESSAGE_ITEMS_MAX];
    struct kept kept[MESSAGE_ITEMS_MAX];
};

/* --- moving the records, and back ------------------------------------------------------------- */

static void keep_sides(struct engine *engine, struct check *check, uint32_t holding)
{
    for (uint32_t i = 0; i < check->kept_count; i++)
        if (check->kept[i].holding == holding)
            return;
    struct kept *kept = &check->kept[check->kept_count++];
    kept->holding = holding;
    memcpy(kept->sides, state_holding(engine, holding)->sides, sizeof kept->sides);
}

/* The portfolio and its account have so many more orders. */
static void count_orders(struct engine *engine, int32_t more)
{
    struct portfolio *portfolio = state_portfolio(engine, engine->applying.portfolio);

    portfolio->open_order_count += (uint32_t)more;
    share_count(engine, portfolio->account, SHARE_orders, more);
}

static void put_back(struct engine *engine, const struct check *check)
{
    for (uint32_t i = 0; i < check->trial_count; i++) {
        const struct trial *trial = &check->trials[i];
        struct order *order = &engine->orders.hot[trial->order];
        if (trial->order == ORDER_NONE)
            continue;
        order->flags = trial->was_flags;
        order->tick = trial->was_tick;
        order->account = trial->was_account;
        order->remaining = trial->was_remaining;
        order->stamp = trial->was_stamp;
    }
    for (uint32_t i = 0; i < check->kept_count; i++)
        memcpy(state_holding(engine, check->kept[i].holding)->sides, check->kept[i].sides,
               sizeof check->kept[i].sides);
    count_orders(engine,
                 (int32_t)(check->open_order_count -
                           state_portfolio(engine, engine->applying.portfolio)->open_order_count));
}

/* Records that were made for the check and have nothing in them. */
static void give_back(struct engine *engine, const struct check *check)
{
    for (uint32_t i = 0; i < check->kept_count; i++) {
        uint32_t index = check->kept[i].holding;
        const struct holding *holding = state_holding(engine, index);
        if (holding->size == 0 && holding->order_head == ORDER_NONE) {
            margin_drop(engine, index);
            holding_free_empty(engine, index);
        }
    }
}

static struct trial *trial_of(struct engine *engine, struct check *check, uint32_t order)
{
    for (uint32_t i = 0; i < check->trial_count; i++)
        if (check->trials[i].order == order)
            return &check->trials[i];
    struct trial *trial = &check->trials[check->trial_count++];
    const struct order *found = &engine->orders.hot[order];
    *trial = (struct trial){
        .order = order,
        .was_flags = found->flags,
        .was_tick = found->tick,
        .was_account = found->account,
        .was_remaining = found->remaining,
        .was_stamp = found->stamp,
        .now = *found,
    };
    return trial;
}

/* The order leaves the sums as it is, or enters them as it has become. */
static void subtract_sums(struct engine *engine, struct check *check, const struct trial *trial)
{
    struct holding *holding = state_holding(engine, trial->now.holding);

    keep_sides(engine, check, trial->now.holding);
    resting_subtract_sums(holding, &trial->now, resting_price(engine, &trial->now),
                          trial->now.remaining, true);
}

static void add_sums(struct engine *engine, struct check *check, struct trial *trial)
{
    struct holding *holding = state_holding(engine, trial->now.holding);

    keep_sides(engine, check, trial->now.holding);
    resting_add_sums(holding, &trial->now, resting_price(engine, &trial->now));
    if (trial->order != ORDER_NONE)
        engine->orders.hot[trial->order] = trial->now;
}

static void move_out(struct engine *engine, struct check *check, uint32_t order)
{
    struct trial *trial = trial_of(engine, check, order);

    subtract_sums(engine, check, trial);
    trial->is_gone = true;
    trial->now.remaining = 0; /* no open loss */
    trial->now.account = NO_ACCOUNT;
    engine->orders.hot[order] = trial->now;
    count_orders(engine, -1);
}

/* A replaced order keeps its time in force here: its new expiry is in no row of extras yet. It is
 * alive by either. */
static void move_request(struct engine *engine, struct check *check,
                         const struct order_request *request)
{
    struct trial *trial = &check->trials[check->trial_count];

    if (request->replaced != ORDER_NONE) {
        trial = trial_of(engine, check, request->replaced);
        subtract_sums(engine, check, trial);
        trial->is_moved |= !request->keeps_priority;
    } else {
        *trial = (struct trial){
            .is_moved = true,
            .now = { .market = (uint16_t)request->market_index, .side = request->side },
        };
        trial->now.holding = holding_get(engine, request->portfolio, request->market_index);
        check->trial_count++;
        count_orders(engine, 1);
    }
    trial->now.tick = request->tick;
    trial->now.remaining = request->quantity;
    trial->now.flags = (uint8_t)((order_request_flags(request) & ~ORDER_TIF_MASK) |
                                 (trial->now.flags & ORDER_TIF_MASK));
    trial->now.stamp = state_stamp(engine); /* no list made before covers what it has become */
    add_sums(engine, check, trial);
}

/* --- row post_only_crosses -------------------------------------------------------------------- */

/* Whether the book still has the order where the items have left it. */
static bool stands(const struct check *check, uint32_t order)
{
    for (uint32_t i = 0; i < check->trial_count; i++)
        if (check->trials[i].order == order)
            return !check->trials[i].is_gone && !check->trials[i].is_moved;
    return true;
}

static bool crosses_book(struct engine *engine, const struct check *check,
                         const struct order_request *request)
{
    const struct book *book = &request->market->book;
    enum order_side other = book_opposite((enum order_side)request->side);
    uint32_t limit = book_mirror(book, request->tick);
    uint64_t most = state_option(engine, OPTION_engine_makers_max);

    for (uint32_t tick = book_best(book, other); tick <= limit && tick != BOOK_TICK_NONE;
         tick = book_next(book, other, tick)) {
        uint32_t at = book_head(book, other, tick);
        for (; at != ORDER_NONE; at = engine->orders.hot[at].next) {
            const struct order *order = &engine->orders.hot[at];
            const struct holding *holding = state_holding(engine, order->holding);
            const struct portfolio *owner = state_portfolio(engine, holding->portfolio);
            if (holding->portfolio == request->portfolio && !stands(check, at))
                continue;
            if (!resting_is_dead(engine, order, at, holding, owner) ||
                engine->applying.batch_makers == most)
                return true;
            engine->applying.batch_makers++;
        }
    }
    return false;
}

/* Against what the items before it have entered. */
static bool crosses_batch(const struct engine *engine, const struct check *check,
                          const struct order_request *request)
{
    for (uint32_t i = 0; i < check->trial_count; i++) {
        const struct trial *trial = &check->trials[i];
        if (!trial->is_moved || trial->is_gone || trial->now.market != request->market_index ||
            trial->now.side == request->side)
            continue;
        uint64_t price = resting_price(engine, &trial->now);
        if (request->side == ORDER_LONG ? request->price >= price : request->price <= price)
            return true;
    }
    return false;
}

/* --- the items -------------------------------------------------------------------------------- */

static struct cancel_target cancel_target_of(const struct engine *engine,
                                             const struct batch_item *item)
{
    return (struct cancel_target){
        .id = item->order_id,
        .hash = batch_hash(engine, item),
        .pads = item->pad | (item->reserved != 0),
        .asset_id = item->asset_id,
    };
}

static struct amend_target amend_target_of(const struct engine *engine,
                                           const struct batch_item *item)
{
    return (struct amend_target){
        .id = item->order_id,
        .hash = batch_hash(engine, item),
        .expected = item->expected_remaining,
        .pads = item->pad | (item->reserved != 0),
        .asset_id = item->asset_id,
    };
}

/* The item's request; an op that is forbidden here, or that does not exist, meets row form. */
static void request_of(const struct engine *engine, const struct batch_item *item,
                       struct order_request *request)
{
    batch_order_request(engine, item, request);
    request->pads |= item->post_only != 1 || item->op >= BATCH_OP_COUNT;
}

/* Rows target_id to liquidation of an op 0 or 2, or of an op that does not exist. */
static enum status terms_of(struct engine *engine, const struct command *command,
                            const struct batch_item *item, struct order_request *request)
{
    struct amend_target target = amend_target_of(engine, item);
    enum status status;

    request_of(engine, item, request);
    if (item->op == BATCH_REPLACE)
        return amend_replace_terms(engine, &target, request, NULL);
    if (item->op == BATCH_PLACE)
        status = batch_check_id(engine, command, item);
    else
        status = batch_has_v7(item) ? STATUS_request_completed : ROW_STATUS(target_id);
    if (status == STATUS_request_completed)
        status = order_request_form(engine, request, false);
    return status != STATUS_request_completed ? status : order_request_terms(engine, request);
}

static enum status reduce_of(struct engine *engine, const struct batch_item *item, uint32_t *order)
{
    struct amend_target target = amend_target_of(engine, item);
    enum status status =
        amend_reduce_decide(engine, &target, (uint64_t)item->quantity, NULL, order);

    if (status == STATUS_request_completed && batch_cut_is_negative(item))
        return ROW_STATUS(size);
    return status;
}

/* --- the check -------------------------------------------------------------------------------- */

static enum status check_reduce(struct engine *engine, struct check *check,
                                const struct batch_item *item)
{
    uint32_t order;
    enum status status = reduce_of(engine, item, &order);

    if (status != STATUS_request_completed)
        return status;
    if ((uint64_t)item->quantity >= engine->orders.hot[order].remaining) {
        move_out(engine, check, order);
        return status;
    }
    struct trial *trial = trial_of(engine, check, order);
    subtract_sums(engine, check, trial);
    trial->now.remaining -= (uint64_t)item->quantity;
    add_sums(engine, check, trial);
    return status;
}

/* A ladder page in use before the batch, which may leave it, or one for all that it would enter. */
static bool has_room(const struct engine *engine, const struct check *check,
                     const struct order_request *request)
{
    enum order_side side = (enum order_side)request->side;

    if (!request->keeps_priority && request->replaced != ORDER_NONE &&
        order_filled_notional(&engine->orders, request->replaced) > ORDER_PLAN_FILLED_MAX)
        return false;
    return request->keeps_priority || book_has_page(&request->market->book, side, request->tick) ||
           resting_room(engine, request->market_index, side, request->tick) >= check->enter_count;
}

static bool is_seen(const struct check *check, uint32_t number, const struct batch_item *item)
{
    struct batch_item other;

    for (uint32_t i = 0; i < number; i++) {
        batch_decode(check->command, i, &other);
        if (other.op == BATCH_PLACE &&
            memcmp(other.order_id, item->order_id, sizeof item->order_id) == 0)
            return true;
    }
    return false;
}

static enum status check_enter(struct engine *engine, struct check *check, uint32_t number,
                               const struct batch_item *item)
{
    enum status status = STATUS_request_completed;
    struct order_request request;

    if (item->op == BATCH_PLACE)
        status = batch_check_id(engine, check->command, item);
    if (status == STATUS_request_completed && item->op == BATCH_PLACE &&
        is_seen(check, number, item))
        status = ROW_STATUS(duplicate);
    if (status == STATUS_request_completed)
        status = terms_of(engine, check->command, item, &request);
    if (status != STATUS_request_completed)
        return status;
    if (!request.keeps_priority &&
        (crosses_book(engine, check, &request) || crosses_batch(engine, check, &request)))
        return ROW_STATUS(post_only_crosses);
    if (!has_room(engine, check, &request))
        return ROW_STATUS(room);
    move_request(engine, check, &request);
    return STATUS_request_completed;
}

static enum status check_cancel(struct engine *engine, struct check *check,
                                const struct batch_item *item)
{
    struct cancel_target target = cancel_target_of(engine, item);
    uint32_t order;
    enum status status = cancel_find(engine, &target, &order);

    if (status == STATUS_request_completed)
        move_out(engine, check, order);
    return status;
}

/* What orders that the items have made lose against the marks: they are in no list yet. */
static int128 new_loss(const struct engine *engine, const struct check *check)
{
    int128 loss = 0;

    for (uint32_t i = 0; i < check->trial_count; i++) {
        const struct order *order = &check->trials[i].now;
        uint64_t mark = engine->markets.rows[order->market].mark;
        uint64_t price = resting_price(engine, order);
        if (check->trials[i].order == ORDER_NONE && (order->flags & ORDER_REDUCE_ONLY) == 0 &&
            margin_price_is_worse((enum order_side)order->side, price, mark))
            loss += (int128)(order->side == ORDER_LONG ? price - mark : mark - price) *
                    (int64_t)order->remaining;
    }
    return loss;
}

/* R4's limit, where what rests has become more. */
static bool beyond_limits(const struct engine *engine, const struct check *check)
{
    for (uint32_t i = 0; i < check->kept_count; i++) {
        const struct kept *kept = &check->kept[i];
        const struct holding *holding = &engine->holdings.rows[kept->holding];
        bool grows = holding->sides[0].size > kept->sides[0].size ||
                     holding->sides[1].size > kept->sides[1].size;
        if (grows && margin_beyond_position_limit(engine, holding->portfolio, holding->market,
                                                  kept->holding))
            return true;
    }
    return false;
}

/* R4's taker test of the state after all items: they trade nothing, so E' = E, and what makes no
 * margin larger always passes. */
static bool margin_holds(struct engine *engine, const struct check *check,
                         const struct margin_view *before)
{
    struct margin_view after;

    uint32_t portfolio = engine->applying.portfolio;
    margin_view(engine, portfolio, &after);
    int128 initial = after.initial + new_loss(engine, check) +
                     margin_entry_surcharge(engine, portfolio, MARKET_NONE);
    if (beyond_limits(engine, check))
        return false;
    return after.equity - stress_of_portfolio(engine, portfolio, MARKET_NONE) >= initial ||
           initial <= before->initial;
}

/* Gives the status of the batch; the records are as they were. */
static enum status check_all(struct engine *engine, struct check *check)
{
    struct margin_view before;
    struct batch_item item;

    margin_view(engine, engine->applying.portfolio, &before);
    before.initial += margin_entry_surcharge(engine, engine->applying.portfolio, MARKET_NONE);
    for (uint32_t i = 0; i < check->count; i++) {
        batch_decode(check->command, i, &item);
        engine->applying.batch_orders += item.op == BATCH_PLACE;
        check->enter_count += item.op == BATCH_PLACE || item.op == BATCH_REPLACE;
        if (item.op == BATCH_CANCEL)
            check->statuses[i] = (uint8_t)check_cancel(engine, check, &item);
    }
    for (uint32_t i = 0; i < check->count; i++) {
        batch_decode(check->command, i, &item);
        if (item.op == BATCH_REDUCE)
            check->statuses[i] = (uint8_t)check_reduce(engine, check, &item);
        else if (item.op != BATCH_CANCEL)
            check->statuses[i] = (uint8_t)check_enter(engine, check, i, &item);
    }
    enum status status = STATUS_request_completed;
    for (uint32_t i = 0; i < check->count && status == STATUS_request_completed; i++)
        status = (enum status)check->statuses[i];
    if (status == STATUS_request_completed && !margin_holds(engine, check, &before))
        status = ROW_STATUS(margin_to_place);
    engine->applying.batch_orders = 0;
    if (status != STATUS_request_completed)
        engine->applying.unpaid += engine->applying.batch_makers;
    engine->applying.batch_makers = 0;
    put_back(engine, check);
    return status;
}

/* --- one alone -------------------------------------------------------------------------------- */

static enum status alone(struct engine *engine, const struct command *command,
                         const struct batch_item *item)
{
    struct cancel_target target = cancel_target_of(engine, item);
    struct order_request request;
    struct order_plan plan;
    uint32_t order;

    if (item->op == BATCH_CANCEL)
        return cancel_find(engine, &target, &order);
    if (item->op == BATCH_REDUCE)
        return reduce_of(engine, item, &order);
    enum status status = terms_of(engine, command, item, &request);
    if (status != STATUS_request_completed)
        return status;
    status = order_plan_decide(engine, &request, &plan);
    engine->applying.batch_makers += engine->applying.makers;
    if (status == STATUS_request_completed) /* but the batch is refused */
        engine->applying.unpaid += engine->applying.makers;
    return status;
}

/* --- the act ---------------------------------------------------------------------------------- */

/* The orders that rest as a whole after the dead orders at or through its limit. */
static void plan_rest(struct engine *engine, const struct order_request *request,
                      struct order_plan *plan)
{
    plan->taker = order_plan_taker(engine, request);
    bool crosses = match_crosses(engine, &plan->taker, &plan->match);
    INVARIANT(!crosses || request->keeps_priority); /* where it rests it meets nobody (I5) */
}

static void act_enter(struct engine *engine, const struct command *command,
                      const struct batch_item *item)
{
    struct order_request request;
    struct order_plan plan;
    enum status status = terms_of(engine, command, item, &request);

    INVARIANT(status == STATUS_request_completed);
    plan_rest(engine, &request, &plan);
    if (item->op == BATCH_REPLACE) {
        amend_replace_act(engine, &request, &plan, NULL);
        return;
    }
    struct place_name name = {
        .id = item->order_id,
        .hash = batch_hash(engine, item),
        .account = engine->applying.account,
    };
    uint32_t order = place_alloc(engine, &name, &request);
    order_plan_act(engine, &request, &plan, order, name.hash, NULL);
}

static void act_reduce(struct engine *engine, const struct batch_item *item)
{
    uint32_t order;
    enum status status = reduce_of(engine, item, &order);

    INVARIANT(status == STATUS_request_completed);
    amend_reduce_act(engine, order, (uint64_t)item->quantity, NULL);
}

static void act_cancel(struct engine *engine, const struct batch_item *item)
{
    struct cancel_target target = cancel_target_of(engine, item);
    enum status status = cancel_one(engine, &target, NULL);

    INVARIANT(status == STATUS_request_completed);
}

static void act_all(struct engine *engine, const struct command *command, uint32_t count)
{
    struct batch_item item;

    for (uint32_t i = 0; i < count; i++) {
        batch_decode(command, i, &item);
        if (item.op == BATCH_CANCEL)
            act_cancel(engine, &item);
    }
    for (uint32_t i = 0; i < count; i++) {
        batch_decode(command, i, &item);
        engine->applying.order_count = i;
        if (item.op == BATCH_REDUCE)
            act_reduce(engine, &item);
        else if (item.op != BATCH_CANCEL)
            act_enter(engine, command, &item);
    }
}

/* Uses the ids of the placements and emits the items, whatever their results. */
static void end_items(struct engine *engine, const struct command *command, uint32_t count,
                      const struct engine_result *result)
{
    struct batch_item item;

    for (uint32_t i = 0; i < count; i++) {
        enum status status = (enum status)result->results[i];
        batch_decode(command, i, &item);
        if (item.op == BATCH_PLACE &&
            batch_check_id(engine, command, &item) == STATUS_request_completed)
            batch_use_id(engine, &item, status);
        batch_emit(engine, command, i, status, REASON_none);
    }
}

enum status batch_atomic_apply(struct engine *engine, const struct command *command, uint32_t count,
                               struct engine_result *result)
{
    struct check check;
    struct batch_item item;

    check.command = command;
    check.count = count;
    check.enter_count = 0;
    check.trial_count = check.kept_count = 0;
    check.open_order_count = state_portfolio(engine, engine->applying.portfolio)->open_order_count;
    enum status status = check_all(engine, &check);
    if (status == STATUS_request_completed) {
        act_all(engine, command, count);
    } else {
        give_back(engine, &check);
        result->reason = REASON_batch_aborted;
        for (uint32_t i = 0; i < count; i++) {
            batch_decode(command, i, &item);
            result->results[i] = (uint8_t)alone(engine, command, &item);
        }
    }
    risk_flush(engine);
    end_items(engine, command, count, result);
    return status;
}
