/* server_page.h - perpd(8), made of the table of options and of the exit codes. */
#ifndef PAGES_SERVER_PAGE_H
#define PAGES_SERVER_PAGE_H

#include "pages/page.h"

void server_page_write(struct page *page);

#endif
