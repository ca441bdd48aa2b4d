/* main.c - perp-pages DATE VERSION PAGE: prints perp.1, perpd.8 or the tables of the completion. */
#include <stdio.h>
#include <string.h>

#include "base/version.h"
#include "pages/client_page.h"
#include "pages/completion.h"
#include "pages/server_page.h"

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("perp-pages %s\n", version_text);
        return 0;
    }
    bool is_known =
        argc == 4 && (strcmp(argv[3], "perp.1") == 0 || strcmp(argv[3], "perpd.8") == 0 ||
                      strcmp(argv[3], "completion") == 0);
    if (!is_known) {
        fprintf(stderr,
                "perp-pages: %s; usage: perp-pages DATE VERSION perp.1|perpd.8|completion\n",
                argc > 1 && argv[1][0] == '-' ? "unknown option"
                : argc != 4                   ? "three words are needed"
                                              : "no such page");
        return 2;
    }
    struct page page = { .out = stdout, .date = argv[1], .version = argv[2] };
    if (strcmp(argv[3], "perp.1") == 0)
        client_page_write(&page);
    else if (strcmp(argv[3], "perpd.8") == 0)
        server_page_write(&page);
    else
        completion_write(stdout);
    return fflush(stdout) != 0;
}
