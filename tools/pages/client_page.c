#include "pages/client_page.h"

#include "perp/command/command.h"

enum { TEXT_MAX = 2048 };

/* Writes "--tif WHEN" of a row to `text`. */
static const char *flag_term(const struct arguments_flag *row, char text[64])
{
    snprintf(text, 64, "--%s", row->name);
    return text;
}

static void write_flag(struct page *page, enum flag flag)
{
    struct arguments_flag row;
    char term[64], text[TEXT_MAX];
    arguments_flag(&row, flag);
    snprintf(text, sizeof text, "%s%s%s.", row.help, row.initial[0] != '\0' ? "; default " : "",
             row.initial);
    page_item(page, flag_term(&row, term), row.value, text);
}

/* Writes the names of a command's own flags as one paragraph; their meanings follow once, below. */
static void write_flag_names(struct page *page, const struct command_row *command)
{
    char text[TEXT_MAX] = "Flags:", term[64];
    size_t at = strlen(text);
    for (int flag = 0; flag < FLAG_COUNT; flag++) {
        struct arguments_flag row;
        if ((command->flags >> flag & 1) == 0)
            continue;
        arguments_flag(&row, (enum flag)flag);
        at += (size_t)snprintf(text + at, sizeof text - at, " %s%s%s,", flag_term(&row, term),
                               row.value != NULL ? " " : "", row.value != NULL ? row.value : "");
        INVARIANT(at < sizeof text);
    }
    text[at - 1] = '.';
    if (command->flags != 0)
        page_paragraph(page, text);
}

static void write_commands(struct page *page)
{
    size_t count;
    const struct command_row *table = command_table(&count);
    page_section(page, "COMMANDS");
    for (size_t i = 0; i < count; i++) {
        char line[128], text[TEXT_MAX];
        snprintf(line, sizeof line, "perp %s%s%s", table[i].words,
                 table[i].positionals[0] != '\0' ? " " : "", table[i].positionals);
        page_subsection(page, line);
        snprintf(text, sizeof text, "%c%s.", table[i].summary[0] - 'a' + 'A', table[i].summary + 1);
        page_paragraph(page, text);
        if (table[i].text[0] != '\0')
            page_paragraph(page, table[i].text);
        write_flag_names(page, &table[i]);
    }
}

static void write_settings(struct page *page)
{
    page_section(page, "SETTINGS");
    page_paragraph(page, "Each is a flag, an environment variable PERP_<NAME> in capitals with _ "
                         "for -, or a line 'name = value' of a profile, in this order.");
    for (int flag = 0; flag < SETTINGS_COUNT; flag++)
        write_flag(page, (enum flag)flag);
}

static void write_files(struct page *page)
{
    page_section(page, "FILES");
    page_item(page, "~/.config/perp/config", NULL,
              "Profiles: the sections of an INI file. --config or PERP_CONFIG names another one, "
              "--profile or PERP_PROFILE another section than [default].");
    page_section(page, "ENVIRONMENT");
    page_item(page, "PERP_CONFIG, PERP_PROFILE", NULL, "As --config and --profile.");
    page_item(page, "PERP_<NAME>", NULL, "A setting, as PERP_URL or PERP_SESSION_KEY.");
}

void client_page_write(struct page *page)
{
    page_begin(page, "perp", "1", "trades on perpd");
    page_section(page, "SYNOPSIS");
    page_paragraph(page, "perp COMMAND [WORDS] [--flags]");
    page_paragraph(page, "perp COMMAND --help");
    page_section(page, "DESCRIPTION");
    page_paragraph(page, "Signs requests, sends them to the exchange and shows the answers. Sizes "
                         "are in base units, prices in USDC, plain decimals both. What it prints "
                         "on standard output is the answer; messages go to standard error.");
    write_commands(page);
    page_section(page, "FLAGS");
    for (int flag = SETTINGS_COUNT; flag < FLAG_COUNT; flag++)
        write_flag(page, (enum flag)flag);
    write_settings(page);
    write_files(page);
    page_section(page, "EXIT STATUS");
#define X(name, code, help) page_item(page, #code, NULL, help ".");
    EXIT_CODE_LIST(X)
#undef X
    page_section(page, "EXAMPLES");
    page_example(page, "perp order BTC-PERP buy 0.02 95000 --post-only\n"
                       "perp order BTC-PERP sell 0.02 --market --max-slippage 0.5%\n"
                       "perp orders --open\n"
                       "perp watch book BTC-PERP");
    page_section(page, "SEE ALSO");
    page_paragraph(page, "perpd(8)");
}
