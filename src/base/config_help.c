/* config_help.c - the options as people read them. */
#include "base/config.h"

void config_help(FILE *out)
{
    fprintf(out, "usage: perpd [--config FILE] [--section.key=value ...]\n"
                 "       perpd --help | --print-config | --version\n\n"
                 "Each key is also a variable PERPD_SECTION_KEY and a line `key = value` under\n"
                 "[section] of FILE; a flag goes before the environment, that before the file.\n"
                 "Of words to choose from, this binary has those with a +.\n\n");
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = option_row(i);
        fprintf(out, "  --%s=%s\n      %s%s%s\n", row->name,
                row->initial[0] != '\0' ? row->initial : "(none)", row->help,
                row->engine ? " [engine]" : "", row->built ? "" : " [not in this binary]");
    }
    fprintf(out, "\nexit codes: 0 clean, 1 failure at run time, 2 configuration, 3 data directory\n"
                 "refused, 4 the machine lacks what perpd needs, 5 another node leads\n");
}
