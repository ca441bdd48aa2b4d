#include "engine/state/cancel_list.h"

/* The orders of one record: dead at once, released by deferred work. */
static void cancel_holding(struct engine *engine, uint32_t index, uint8_t sides, uint8_t reason)
{
    struct holding *holding = state_holding(engine, index);
    uint32_t dead = 0;

    for (uint32_t side = 0; side < 2; side++) {
        bool wanted =
            sides == CANCEL_BOTH || sides == (side == ORDER_LONG ? CANCEL_BUYS : CANCEL_SELLS);
        if (!wanted || holding->sides[side].order_count == 0)
            continue;
        holding->sides[side].cancel_sequence = state_stamp(engine);
        holding->side_reasons[side] = reason;
        dead += holding->sides[side].order_count;
    }
    if (dead != 0)
        work_queue_cancel(engine, index);
}

void cancel_list_sides(struct engine *engine, uint32_t portfolio, uint32_t market,
                       enum cancel_sides sides, uint8_t reason)
{
    uint32_t at = state_portfolio(engine, portfolio)->holding_head;

    for (; at != HOLDING_NONE; at = state_holding(engine, at)->next)
        if (market == MARKET_NONE || state_holding(engine, at)->market == market)
            cancel_holding(engine, at, (uint8_t)sides, reason);
}

void cancel_list_portfolio(struct engine *engine, uint32_t index, uint8_t reason)
{
    struct portfolio *portfolio = state_portfolio(engine, index);

    if (portfolio->open_order_count == 0)
        return;
    portfolio->cancel_sequence = state_stamp(engine);
    portfolio->cancel_reason = reason;
    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE;
         at = state_holding(engine, at)->next)
        if (state_holding(engine, at)->order_head != ORDER_NONE)
            work_queue_cancel(engine, at);
}

static void renew(uint64_t *list, uint8_t *list_reason, uint64_t stamp, uint8_t reason)
{
    if (*list >= stamp)
        return;
    *list = stamp;
    *list_reason = reason;
}

void cancel_list_older(struct engine *engine, uint32_t index, uint32_t market, uint64_t stamp,
                       uint8_t reason)
{
    struct portfolio *portfolio = state_portfolio(engine, index);
    uint32_t next;

    for (uint32_t at = portfolio->holding_head; at != HOLDING_NONE; at = next) {
        struct holding *holding = state_holding(engine, at);
        uint32_t oldest = holding->order_head;
        next = holding->next;
        if ((market != MARKET_NONE && holding->market != market) || oldest == ORDER_NONE ||
            order_rank(&engine->orders, oldest) >= stamp)
            continue;
        if (market == MARKET_NONE)
            renew(&portfolio->cancel_sequence, &portfolio->cancel_reason, stamp, reason);
        for (uint32_t side = 0; market != MARKET_NONE && side < 2; side++)
            if (holding->sides[side].order_count != 0)
                renew(&holding->sides[side].cancel_sequence, &holding->side_reasons[side], stamp,
                      reason);
        work_queue_cancel(engine, at);
    }
}
