/* main.c - perp-pages DATE VERSION PAGE: prints perp.1, perpd.8 or the tables of the completion. */
#include <stdio.h>

#include "pages/client_page.h"
#include "pages/completion.h"
#include "pages/server_page.h"

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: perp-pages DATE VERSION perp.1|perpd.8|completion\n");
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
