/* command.h - every command of perp: the table, and the handler of each row. */
#ifndef PERP_COMMAND_COMMAND_H
#define PERP_COMMAND_COMMAND_H

#include "perp/invocation/arguments.h"
#include "perp/invocation/context.h"
#include "perp/invocation/exit_code.h"

#define COMMAND(words, handler, positionals, flags, summary, text) \
    int handler(struct context *context);
#include "perp/command/commands.def"
#undef COMMAND

/* All commands in the order of the table; *count gets their number. */
const struct command_row *command_table(size_t *count);

#endif
