/* command.h - every command of perp: the table, and the handler of each row. */
#ifndef PERP_COMMAND_H
#define PERP_COMMAND_H

#include "perp/arguments.h"
#include "perp/context.h"
#include "perp/exit_code.h"

#define COMMAND(words, handler, positionals, flags, summary, text) \
    int handler(struct context *context);
#include "perp/commands.def"
#undef COMMAND

/* All commands in the order of the table; *count gets their number. */
const struct command_row *command_table(size_t *count);

#endif
