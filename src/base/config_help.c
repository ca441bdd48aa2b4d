/* config_help.c - the options as people read them: the help, and the configuration in force as a
 * file that --config takes. */
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

void config_print(const struct config *config, FILE *out)
{
    size_t section_count = 0;
    const char *section = "";
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = option_row(i);
        if (!row->built)
            continue;
        size_t count = strcspn(row->name, ".");
        if (count != section_count || memcmp(row->name, section, count) != 0) {
            fprintf(out, "%s[%.*s]\n", section_count == 0 ? "" : "\n", (int)count, row->name);
            section = row->name;
            section_count = count;
        }
        fprintf(out, "%s = %s ; %s\n", row->name + count + 1, config->values[i].text,
                config_source_name(config->values[i].source));
    }
}
