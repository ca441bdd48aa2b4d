/* client_page.h - perp(1), made of the tables of commands, flags, settings and exit codes. */
#ifndef PAGES_CLIENT_PAGE_H
#define PAGES_CLIENT_PAGE_H

#include "pages/page.h"

void client_page_write(struct page *page);

#endif
