#include "pages/server_page.h"

#include "base/option.h"
#include "node/run/node.h"

enum { TEXT_MAX = 512 };

/* clang-format off */
#define EXIT_LIST(X) \
    X(CLEAN,         "stopped on request (SIGTERM, SIGINT); every answer that was given is on disk") \
    X(FAILED,        "failed while it started or ran; the last line of the log says why") \
    X(CONFIGURATION, "an option is wrong, unknown or of a part that this version does not have") \
    X(REFUSED,       "the data directory is refused as it is; nothing was written to it") \
    X(KERNEL,        "the kernel or the processor lacks what perpd needs")
/* clang-format on */

/* Lists the words of a choice that this binary has. */
static void choice_text(const struct option_row *row, char text[TEXT_MAX])
{
    size_t at = (size_t)snprintf(text, TEXT_MAX, "One of");
    for (const char *word = row->help; *word != '\0';) {
        size_t count = strcspn(word, " ");
        if (word[0] == '+')
            at += (size_t)snprintf(text + at, TEXT_MAX - at, " %.*s,", (int)count - 1, word + 1);
        word += count;
        word += strspn(word, " ");
    }
    text[at - 1] = '\0';
}

static void write_option(struct page *page, const struct option_row *row)
{
    char term[96], text[TEXT_MAX], whole[TEXT_MAX * 2];
    if (row->type == OPTION_TYPE_CHOICE)
        choice_text(row, text);
    else
        snprintf(text, sizeof text, "%s", row->help);
    snprintf(term, sizeof term, "--%s=", row->name);
    snprintf(whole, sizeof whole, "%s; default %s%s.", text,
             row->initial[0] != '\0' ? row->initial : "none",
             row->engine ? "; an engine option, written to the journal" : "");
    page_item(page, term, NULL, whole);
}

/* Lists the options of parts that this binary does not have: naming one is exit code 2. */
static void write_absent(struct page *page)
{
    char text[4096] = "This version refuses, with exit code 2:";
    size_t begun = strlen(text), at = begun;
    for (uint32_t option = 0; option < OPTION_COUNT; option++) {
        const struct option_row *row = option_row((enum option)option);
        if (!row->built)
            at += (size_t)snprintf(text + at, sizeof text - at, " %s,", row->name);
        INVARIANT(at < sizeof text);
    }
    if (at == begun)
        return;
    text[at - 1] = '.';
    page_paragraph(page, text);
}

void server_page_write(struct page *page)
{
    page_begin(page, "perpd", "8", "a perpetual-futures exchange");
    page_section(page, "SYNOPSIS");
    page_paragraph(page, "perpd [--config FILE] [--section.key=value ...]");
    page_paragraph(page, "perpd --help | --print-config");
    page_section(page, "DESCRIPTION");
    page_paragraph(page, "Serves an exchange over HTTP and keeps it in a data directory. When it "
                         "serves it prints 'ready http://HOST:PORT', with TLS https, on standard "
                         "output; everything else it has to say is logged on standard error.");
    page_section(page, "OPTIONS");
    page_item(page, "--config", "FILE", "An INI file: a line 'key = value' under [section].");
    page_item(page, "--help", NULL, "Lists the options.");
    page_item(page, "--print-config", NULL, "Prints the configuration that would be used.");
    page_paragraph(page, "A flag goes before the environment, that before the file, that before "
                         "the default. An unknown key is refused.");
    for (uint32_t option = 0; option < OPTION_COUNT; option++) {
        const struct option_row *row = option_row((enum option)option);
        if (row->built)
            write_option(page, row);
    }
    write_absent(page);
    page_section(page, "ENVIRONMENT");
    page_item(page, "PERPD_SECTION_KEY", NULL,
              "Any option, as PERPD_NET_LISTEN for --net.listen=.");
    page_section(page, "SIGNALS");
    page_item(page, "SIGTERM, SIGINT, SIGQUIT", NULL,
              "A clean stop. SIGKILL loses nothing either: the "
              "next start recovers from the journal.");
    page_item(page, "SIGHUP", NULL,
              "Reads the certificate and the key of TLS again, for new connections. Files that "
              "cannot be used change nothing.");
    page_item(page, "SIGUSR1, SIGUSR2, SIGPIPE, SIGXFSZ", NULL, "Ignored.");
    page_section(page, "EXIT STATUS");
#define X(name, text)                                        \
    {                                                        \
        char code[16];                                       \
        snprintf(code, sizeof code, "%d", NODE_EXIT_##name); \
        page_item(page, code, NULL, text ".");               \
    }
    EXIT_LIST(X)
#undef X
    page_section(page, "SEE ALSO");
    page_paragraph(page, "perp(1)");
}
