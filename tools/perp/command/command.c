#include "perp/command/command.h"

#include "perp/invocation/arguments.h"

/* clang-format off */
/* Sets of flags that go together. */
#define FLAGS_SIGNED  (FLAG(explain) | FLAG(dry_run) | FLAG(binary) | FLAG(id))
#define FLAGS_WHERE   (FLAG(account) | FLAG(subaccount) | FLAG(portfolio))
#define FLAGS_ORDER   (FLAGS_SIGNED | FLAGS_WHERE | FLAG(session_key) | FLAG(ack))
#define FLAGS_MASTER  (FLAGS_SIGNED | FLAG(account) | FLAG(master_key))
#define FLAGS_LIST    (FLAG(api_key) | FLAG(portfolio) | FLAG(all))
#define FLAGS_PAGE    (FLAG(limit) | FLAG(offset) | FLAG(before))
#define FLAGS_KEY     (FLAG(label) | FLAG(scope) | FLAG(pin))
#define FLAGS_EITHER \
    (FLAGS_SIGNED | FLAG(account) | FLAG(signer) | FLAG(session_key) | FLAG(master_key))
#define FLAGS_OPERATOR (FLAGS_SIGNED | FLAG(operator_key))
#define FLAGS_PLAIN   (FLAG(api_key) | FLAG(subaccount) | FLAG(portfolio))
#define FLAGS_CONDITIONAL \
    (FLAGS_ORDER | FLAG(tif) | FLAG(post_only) | FLAG(reduce_only) | FLAG(stp) | \
     FLAG(max_slippage) | FLAG(expires) | FLAG(oco))
#define FLAGS_JOURNAL (FLAG(data) | FLAG(from) | FLAG(to) | FLAG(code) | FLAG(account))
#define FLAGS_BENCH \
    (FLAG(rate) | FLAG(schedule) | FLAG(seconds) | FLAG(accounts) | FLAG(mix) | FLAG(seed) | \
     FLAG(market) | FLAG(price) | FLAG(binary) | FLAG(ack) | FLAG(operator_key) | FLAG(oracle_key))
#define FLAGS_LOAD \
    (FLAG(warm_up) | FLAG(repeats) | FLAG(connections) | FLAG(pipeline) | FLAG(sign) | \
     FLAG(corpus) | FLAG(perpd) | FLAG(durability) | FLAG(set) | FLAG(results) | FLAG(data) | \
     FLAG(admin_url) | FLAG(beside) | FLAG(websocket))
/* clang-format on */

static const struct command_row commands[] = {
#define COMMAND(words, handler, positionals, flags, summary, text) \
    { words, handler, positionals, flags, summary, text },
#include "perp/command/commands.def"
#undef COMMAND
};

const struct command_row *command_table(size_t *count)
{
    *count = CC_COUNT(commands);
    return commands;
}
