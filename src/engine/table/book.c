#include "engine/table/book.h"

/* About one order in ten runs these paths. They are out of line, so that the other orders need not
 * save registers for them. */
#define BOOK_RARE __attribute__((noinline))

enum {
    BOOK_WORD_BITS = 6, /* 64 bits a bitmap word */
};

static_assert(1 << (BOOK_WORD_BITS * BOOK_BITMAP_DEPTH) == BOOK_TICKS_MAX, "depth fits the ladder");
static_assert(BOOK_PAGE_WORDS == 4, "book_page_is_empty reads four words");

/* Words of the bitmap at a depth from 1, rounded up to a line. */
static size_t book_bitmap_words(uint32_t ladder_ticks, uint32_t depth)
{
    size_t bits = ladder_ticks;

    for (uint32_t d = 0; d <= depth; d++)
        bits = (bits + 63) >> BOOK_WORD_BITS;
    return (bits + 7) & ~(size_t)7;
}

/* Entries of a side's directory, rounded up to a line. */
static size_t book_directory_entries(uint32_t ladder_ticks)
{
    size_t pages = ((size_t)ladder_ticks + BOOK_PAGE_LEVELS - 1) / BOOK_PAGE_LEVELS;

    return (pages + 15) & ~(size_t)15;
}

size_t book_bytes(uint32_t ladder_ticks)
{
    size_t side_bytes = book_directory_entries(ladder_ticks) * sizeof(uint32_t);

    for (uint32_t depth = 1; depth < BOOK_BITMAP_DEPTH; depth++)
        side_bytes += book_bitmap_words(ladder_ticks, depth) * sizeof(uint64_t);
    return 2 * side_bytes;
}

void book_init(struct book *book, void *memory, uint32_t ladder_ticks, struct order *orders,
               struct book_pages *pages)
{
    uint8_t *at = memory;

    INVARIANT(ladder_ticks >= 2 && ladder_ticks <= BOOK_TICKS_MAX);
    INVARIANT((uintptr_t)memory % CC_CACHE_LINE == 0);
    *book = (struct book){ .orders = orders, .pages = pages, .top = ladder_ticks - 1 };
    for (uint32_t s = 0; s < 2; s++) {
        book->sides[s].best = BOOK_TICK_NONE;
        book->sides[s].pool = pages->pool;
        book->sides[s].directory = (uint32_t *)(void *)at;
        at += book_directory_entries(ladder_ticks) * sizeof(uint32_t);
        for (uint32_t depth = 1; depth < BOOK_BITMAP_DEPTH; depth++) {
            book->sides[s].bitmap[depth - 1] = (uint64_t *)(void *)at;
            at += book_bitmap_words(ladder_ticks, depth) * sizeof(uint64_t);
        }
    }
    INVARIANT(at == (uint8_t *)memory + book_bytes(ladder_ticks));
}

/* A word of the bitmap of a side, to read. */
static inline uint64_t book_word(const struct book_side *side, uint32_t depth, uint32_t word)
{
    if (depth > 0)
        return side->bitmap[depth - 1][word];
    return book_page(side, word << BOOK_WORD_BITS)->words[word % BOOK_PAGE_WORDS];
}

static bool book_page_is_empty(const struct book_page *page)
{
    return (page->words[0] | page->words[1] | page->words[2] | page->words[3]) == 0;
}

/* Marks a level that gets its first order: takes a page if it has none, then sets its bits upward,
 * up to the first word that was not empty. False when the pages are at their limit; then nothing
 * changes. */
static BOOK_RARE bool book_open_level(struct book *book, struct book_side *side, uint32_t tick)
{
    uint32_t *line = &side->directory[tick / BOOK_PAGE_LEVELS];

    if (*line == 0)
        *line = book_pages_alloc(book->pages);
    if (*line == 0)
        return false;
    uint64_t *word = &book_page(side, tick)->words[(tick >> BOOK_WORD_BITS) % BOOK_PAGE_WORDS];
    for (uint32_t depth = 0, bit = tick;;) {
        uint64_t before = *word;
        *word = before | 1ull << (bit & 63);
        if (before != 0 || ++depth == BOOK_BITMAP_DEPTH)
            break;
        bit >>= BOOK_WORD_BITS;
        word = &side->bitmap[depth - 1][bit >> BOOK_WORD_BITS];
    }
    side->best = tick < side->best ? tick : side->best;
    return true;
}

/* Returns the lowest index from `tick` to `top` that has an order, or BOOK_TICK_NONE. It climbs
 * while words are empty, then descends along the lowest set bits. */
static uint32_t book_find(const struct book_side *side, uint32_t tick, uint32_t top)
{
    uint32_t depth = 0;

    for (;;) {
        if (tick > top)
            return BOOK_TICK_NONE;
        uint64_t word = book_word(side, depth, tick >> BOOK_WORD_BITS) >> (tick & 63);
        if (CC_LIKELY(word != 0)) {
            tick += (uint32_t)__builtin_ctzll(word);
            break;
        }
        if (++depth == BOOK_BITMAP_DEPTH)
            return BOOK_TICK_NONE;
        tick = (tick >> BOOK_WORD_BITS) + 1;
        top >>= BOOK_WORD_BITS;
    }
    while (depth-- > 0)
        tick = tick << BOOK_WORD_BITS | (uint32_t)__builtin_ctzll(book_word(side, depth, tick));
    return tick;
}

/* Clears the bits of a level that lost its last order, frees its page if that is now empty, and
 * finds the next best level. */
static BOOK_RARE void book_close_level(struct book *book, struct book_side *side, uint32_t tick)
{
    uint32_t *line = &side->directory[tick / BOOK_PAGE_LEVELS];
    struct book_page *page = book_page(side, tick);
    uint64_t *word = &page->words[(tick >> BOOK_WORD_BITS) % BOOK_PAGE_WORDS];

    for (uint32_t depth = 0, bit = tick;;) {
        *word &= ~(1ull << (bit & 63));
        if (*word != 0 || ++depth == BOOK_BITMAP_DEPTH)
            break;
        bit >>= BOOK_WORD_BITS;
        word = &side->bitmap[depth - 1][bit >> BOOK_WORD_BITS];
    }
    if (book_page_is_empty(page)) {
        book_pages_free(book->pages, *line);
        *line = 0;
    }
    if (tick == side->best)
        side->best = book_find(side, tick, book->top);
}

bool book_insert(struct book *book, uint32_t order)
{
    struct order *record = &book->orders[order];
    struct book_side *side = &book->sides[record->side];
    struct book_page *page = book_page(side, record->tick);
    uint32_t at = record->tick % BOOK_PAGE_LEVELS;
    uint32_t head = page->levels[at].head;
    uint32_t tail = page->levels[at].tail;

    INVARIANT(order != ORDER_NONE && record->remaining != 0);
    INVARIANT(record->tick <= book->top);
    if (CC_UNLIKELY(head == ORDER_NONE)) {
        if (!book_open_level(book, side, record->tick))
            return false;
        page = book_page(side, record->tick);
        head = order;
    }
    struct book_level *level = &page->levels[at];
    record->next = ORDER_NONE;
    record->prev = tail;
    book->orders[tail].next = order; /* of the dummy if the level was empty */
    level->head = head;
    level->tail = order;
    level->quantity += record->remaining;
    page->order_counts[at]++;
    side->order_count++;
    return true;
}

void book_remove(struct book *book, uint32_t order)
{
    struct order *record = &book->orders[order];
    struct book_side *side = &book->sides[record->side];
    struct book_page *page = book_page(side, record->tick);
    struct book_level *level = &page->levels[record->tick % BOOK_PAGE_LEVELS];
    uint32_t next = record->next;
    uint32_t prev = record->prev;
    uint32_t head = level->head;
    uint32_t tail = level->tail;

    INVARIANT(order != ORDER_NONE);
    INVARIANT(level->quantity >= record->remaining);
    INVARIANT((head == order) == (prev == ORDER_NONE));
    INVARIANT((tail == order) == (next == ORDER_NONE));
    book->orders[prev].next = next; /* at either end the dummy is written to */
    book->orders[next].prev = prev;
    head = head == order ? next : head; /* no branch: the end is unpredictable */
    tail = tail == order ? prev : tail;
    level->quantity -= record->remaining;
    level->head = head;
    level->tail = tail;
    page->order_counts[record->tick % BOOK_PAGE_LEVELS]--;
    side->order_count--;
    if (CC_UNLIKELY(head == ORDER_NONE)) {
        INVARIANT(level->quantity == 0);
        book_close_level(book, side, record->tick);
    }
}

void book_reduce(struct book *book, uint32_t order, uint64_t quantity)
{
    struct order *record = &book->orders[order];
    struct book_level *level = book_level_at(&book->sides[record->side], record->tick);

    INVARIANT(quantity - 1 < record->remaining - 1);
    INVARIANT(quantity < level->quantity);
    record->remaining -= quantity;
    level->quantity -= quantity;
}

bool book_fill(struct book *book, uint32_t order, uint64_t quantity)
{
    struct order *record = &book->orders[order];

    if (quantity != record->remaining) {
        book_reduce(book, order, quantity);
        return false;
    }
    book_remove(book, order);
    record->remaining = 0;
    return true;
}

bool book_has_page(const struct book *book, enum order_side side, uint32_t tick)
{
    return book->sides[side].directory[tick / BOOK_PAGE_LEVELS] != 0;
}

bool book_frees_page(const struct book *book, enum order_side side, uint32_t tick)
{
    const struct book_page *page = book_page(&book->sides[side], tick);
    int levels = 0;

    for (uint32_t i = 0; i < BOOK_PAGE_WORDS; i++)
        levels += __builtin_popcountll(page->words[i]);
    return levels == 1 && page->order_counts[tick % BOOK_PAGE_LEVELS] == 1;
}

bool book_ahead(const struct book *book, uint32_t order, uint32_t steps, uint64_t *quantity)
{
    const struct order *record = &book->orders[order];
    const struct book_level *level = book_level_at(&book->sides[record->side], record->tick);
    uint32_t before = record->prev, behind = record->next;
    uint64_t sum_before = 0, sum_behind = 0;

    for (uint32_t step = 0; step <= steps; step++) {
        if (before == ORDER_NONE) {
            *quantity = sum_before;
            return true;
        }
        if (behind == ORDER_NONE) {
            INVARIANT(level->quantity >= record->remaining + sum_behind);
            *quantity = level->quantity - record->remaining - sum_behind;
            return true;
        }
        sum_before += book->orders[before].remaining;
        sum_behind += book->orders[behind].remaining;
        before = book->orders[before].prev;
        behind = book->orders[behind].next;
    }
    return false;
}

uint32_t book_next(const struct book *book, enum order_side side, uint32_t tick)
{
    return book_find(&book->sides[side], tick + 1, book->top);
}

uint32_t book_depth(const struct book *book, enum order_side side, struct book_depth *rows,
                    uint32_t row_count)
{
    uint32_t count = 0;

    for (uint32_t tick = book_best(book, side); tick != BOOK_TICK_NONE && count < row_count;
         tick = book_next(book, side, tick))
        rows[count++] = (struct book_depth){
            .price_ticks = book_price(book, side, tick),
            .quantity = book_quantity(book, side, tick),
            .order_count = book_order_count(book, side, tick),
        };
    return count;
}

/* Checks the queue of one level against its sums. */
static void book_check_level(const struct book *book, enum order_side side, uint32_t tick)
{
    const struct book_level *level = book_level_at(&book->sides[side], tick);
    uint64_t quantity = 0;
    uint32_t count = 0;
    uint32_t prev = ORDER_NONE;

    for (uint32_t at = level->head; at != ORDER_NONE; prev = at, at = book->orders[at].next) {
        const struct order *order = &book->orders[at];
        INVARIANT(order->prev == prev);
        INVARIANT(order->tick == tick);
        INVARIANT(order->side == (uint8_t)side);
        INVARIANT(order->remaining != 0);
        INVARIANT(prev == ORDER_NONE || book->orders[prev].stamp < order->stamp);
        quantity += order->remaining;
        count++;
    }
    INVARIANT(level->tail == prev);
    INVARIANT(level->quantity == quantity);
    INVARIANT(book_order_count(book, side, tick) == count);
    INVARIANT(count != 0);
}

uint32_t book_check_side(const struct book *book, enum order_side side)
{
    const struct book_side *ladder = &book->sides[side];
    uint32_t order_count = 0;
    uint32_t page_count = 0, entry_count = 0;
    uint32_t page = UINT32_MAX;
    uint32_t tick = book_find(ladder, 0, book->top);

    INVARIANT(tick == ladder->best);
    for (; tick != BOOK_TICK_NONE; tick = book_next(book, side, tick)) {
        book_check_level(book, side, tick);
        order_count += book_order_count(book, side, tick);
        page_count += tick / BOOK_PAGE_LEVELS != page;
        page = tick / BOOK_PAGE_LEVELS;
    }
    for (uint32_t at = 0; at <= book->top / BOOK_PAGE_LEVELS; at++)
        entry_count += ladder->directory[at] != 0;
    INVARIANT(entry_count == page_count);
    INVARIANT(ladder->order_count == order_count);
    return page_count;
}
