#include "perp/command.h"

static const struct command_row commands[] = {
#define X(words, handler, positionals, flags, summary, text) \
    { words, handler, positionals, flags, summary, text },
    COMMAND_LIST(X)
#undef X
};

const struct command_row *command_table(size_t *count)
{
    *count = CC_COUNT(commands);
    return commands;
}
