#include "engine/table/book_pages.h"

enum { BOOK_PAGE_LINES = sizeof(struct book_page) / CC_CACHE_LINE };

static_assert((uint64_t)BOOK_TICKS_MAX * BOOK_PAGE_LINES + BOOK_PAGE_LINES <= UINT32_MAX,
              "a directory names every line of the largest pool");

size_t book_pages_bytes(uint32_t capacity)
{
    return ((size_t)capacity + 1) * sizeof(struct book_page);
}

void book_pages_init(struct book_pages *pages, void *memory, uint32_t capacity)
{
    INVARIANT(capacity >= 1 && capacity <= BOOK_TICKS_MAX);
    INVARIANT((uintptr_t)memory % CC_CACHE_LINE == 0);
    *pages = (struct book_pages){
        .pool = memory, .untouched = 1, .capacity = capacity, .limit = capacity
    };
}

uint32_t book_pages_alloc(struct book_pages *pages)
{
    uint32_t line = pages->free;

    if (pages->used >= pages->limit)
        return 0;
    pages->used++;
    if (line != 0) {
        struct book_page *page = book_pages_at(pages->pool, line);
        pages->free = page->next_free;
        page->next_free = 0;
        return line;
    }
    INVARIANT(pages->untouched <= pages->capacity);
    return pages->untouched++ * BOOK_PAGE_LINES;
}

void book_pages_free(struct book_pages *pages, uint32_t line)
{
    INVARIANT(pages->used > 0 && line != 0);
    book_pages_at(pages->pool, line)->next_free = pages->free;
    pages->free = line;
    pages->used--;
}
