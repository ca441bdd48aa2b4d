#include "engine/trade/prefetch.h"

#include "engine/state/state.h"

static bool names_target(const struct command *command)
{
    return command->code == REQUEST_order_cancel || command->code == REQUEST_order_reduction ||
           command->code == REQUEST_order_replacement;
}

void prefetch_buckets(const struct engine *engine, const struct command *command)
{
    if (command->kind == COMMAND_UNSIGNED)
        return;
    duplicate_prefetch(&engine->duplicates, command->request_hash);
    if (command->code == REQUEST_place_limit_order)
        order_map_prefetch(&engine->order_map, command->request_hash);
    else if (names_target(command))
        order_map_prefetch(&engine->order_map, command->target_hash);
}

void prefetch_records(const struct engine *engine, const struct command *command)
{
    if (!names_target(command))
        return;
    order_prefetch(&engine->orders, order_map_peek(&engine->order_map, command->target_hash));
}
