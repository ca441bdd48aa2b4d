#include "pages/completion.h"

#include "base/option.h"
#include "perp/command/command.h"

/* clang-format off */
/* The values of a flag, or the words of a command; any other kind completes to nothing. FILE
 * and MARKET are looked up. */
#define CHOICE_LIST(X) \
    X("FORMAT", "table json") \
    X("WHEN",   "GTC IOC FOK GTT:") \
    X("MODE",   "EXPIRE_TAKER EXPIRE_MAKER EXPIRE_BOTH DECREMENT") \
    X("SIDE",   "buy sell buys sells") \
    X("ACK",    "full binary receipt") \
    X("STATUS", "OPEN FILLED CANCELED REJECTED UNTRIGGERED PARTIALLY_FILLED EXPIRED") \
    X("SCOPE",  "READ READ_WRITE FULL_ACCESS TRADING_ONLY") \
    X("WHICH",  "session master") \
    X("FORM",   "base64 hex raw") \
    X("CURVE",  "ed25519 secp256k1") \
    X("FILE",   "@files") \
    X("PUBLIC_KEY", "@files") \
    X("MARKET", "@markets")
/* clang-format on */

/* Writes --flag, or --flag=PLACE if it has a value. */
static void write_flags(FILE *out, flag_set flags)
{
    for (int flag = 0; flag < FLAG_COUNT; flag++) {
        struct arguments_flag row;
        if ((flags >> flag & 1) == 0)
            continue;
        arguments_flag(&row, (enum flag)flag);
        fprintf(out, " --%s%s%s", row.name, row.value != NULL ? "=" : "",
                row.value != NULL ? row.value : "");
    }
}

static void write_commands(FILE *out)
{
    size_t count;
    const struct command_row *table = command_table(&count);
    fputs("_perp_commands='", out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s\n", table[i].words);
    fputs("'\n\n_perp_command() {\n    case $1 in\n", out);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "    \"%s\")\n        flags=\"", table[i].words);
        write_flags(out, arguments_flags(&table[i]));
        fprintf(out, "\"\n        places=\"%s\"\n        ;;\n", table[i].positionals);
    }
    fputs("    *)\n        flags=\"", out);
    write_flags(out, arguments_flags(NULL));
    fputs("\"\n        places=\n        ;;\n    esac\n}\n\n", out);
}

static void write_places(FILE *out)
{
    fputs("_perp_place() {\n    case $1 in\n", out);
#define X(place, words) fprintf(out, "    %s) printf %%s '%s' ;;\n", place, words);
    CHOICE_LIST(X)
#undef X
    fputs("    esac\n}\n\n", out);
}

static void write_option_words(FILE *out, const struct option_row *row)
{
    fprintf(out, "    --%s) printf %%s '", row->name);
    if (row->type == OPTION_TYPE_SWITCH)
        fputs("on off", out);
    else if (row->type == OPTION_TYPE_TEXT)
        fputs("@files", out);
    for (const char *word = row->type == OPTION_TYPE_CHOICE ? row->help : ""; *word != '\0';) {
        size_t count = strcspn(word, " ");
        if (word[0] == '+')
            fprintf(out, "%.*s ", (int)count - 1, word + 1);
        word += count;
        word += strspn(word, " ");
    }
    fputs("' ;;\n", out);
}

static void write_options(FILE *out)
{
    fputs("_perpd_options=\"--config --help --print-config", out);
    for (uint32_t option = 0; option < OPTION_COUNT; option++) {
        const struct option_row *row = option_row((enum option)option);
        if (row->built)
            fprintf(out, " --%s=", row->name);
    }
    fputs("\"\n\n_perpd_place() {\n    case $1 in\n    --config) printf %s '@files' ;;\n", out);
    for (uint32_t option = 0; option < OPTION_COUNT; option++) {
        const struct option_row *row = option_row((enum option)option);
        if (row->built)
            write_option_words(out, row);
    }
    fputs("    esac\n}\n", out);
}

void completion_write(FILE *out)
{
    fputs("\n# Made by perp-pages from the tables of the source; do not edit.\n", out);
    write_commands(out);
    write_places(out);
    write_options(out);
}
