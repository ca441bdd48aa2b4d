#include "engine/table/book.h"

/* About one order in ten runs these paths. They are out of line, so that the other orders need not
 * save registers for them. */
#define BOOK_RARE __attribute__((noinline))

enum {
    BOOK_WORD_BITS = 6, /* 64 bits a bitmap word */
    BOOK_PAGE_WORDS = BOOK_PAGE_LEVELS >> BOOK_WORD_BITS,
};

static_assert(sizeof(struct book_level) * BOOK_PAGE_LEVELS == 4096, "a page is 4 KiB of levels");
static_assert(1 << (BOOK_WORD_BITS * BOOK_BITMAP_DEPTH) == BOOK_TICKS_MAX, "depth fits the ladder");
static_assert(BOOK_PAGE_WORDS == 4, "book_page_is_empty reads four words");

/* Words of one bitmap level, rounded up to eight: all four words of each ladder page then exist. */
static size_t book_bitmap_words(uint32_t ladder_ticks, uint32_t depth)
{
    size_t bits = ladder_ticks;

    for (uint32_t d = 0; d <= depth; d++)
        bits = (bits + 63) >> BOOK_WORD_BITS;
    return (bits + 7) & ~(size_t)7;
}

/* Levels of one side, rounded up to whole pages: both sides and the arrays after them stay
 * aligned. */
static size_t book_ladder_levels(uint32_t ladder_ticks)
{
    return ((size_t)ladder_ticks + BOOK_PAGE_LEVELS - 1) & ~(size_t)(BOOK_PAGE_LEVELS - 1);
}

size_t book_bytes(uint32_t ladder_ticks)
{
    size_t levels = book_ladder_levels(ladder_ticks);
    size_t side_bytes = levels * (sizeof(struct book_level) + sizeof(uint32_t));

    for (uint32_t depth = 0; depth < BOOK_BITMAP_DEPTH; depth++)
        side_bytes += book_bitmap_words(ladder_ticks, depth) * sizeof(uint64_t);
    return 2 * side_bytes;
}

void book_init(struct book *book, void *memory, uint32_t ladder_ticks, struct order *orders,
               struct book_pages *pages)
{
    size_t levels = book_ladder_levels(ladder_ticks);
    unsigned char *at = memory;

    INVARIANT(ladder_ticks >= 2 && ladder_ticks <= BOOK_TICKS_MAX);
    INVARIANT((uintptr_t)memory % CC_CACHE_LINE == 0);
    *book = (struct book){ .orders = orders, .pages = pages, .top = ladder_ticks - 1 };
    for (uint32_t s = 0; s < 2; s++) {
        book->sides[s].best = BOOK_TICK_NONE;
        book->sides[s].levels = (struct book_level *)(void *)at;
        at += levels * sizeof(struct book_level);
    }
    for (uint32_t s = 0; s < 2; s++) {
        book->sides[s].order_counts = (uint32_t *)(void *)at;
        at += levels * sizeof(uint32_t);
        for (uint32_t depth = 0; depth < BOOK_BITMAP_DEPTH; depth++) {
            book->sides[s].bitmap[depth] = (uint64_t *)(void *)at;
            at += book_bitmap_words(ladder_ticks, depth) * sizeof(uint64_t);
        }
    }
    INVARIANT(at == (unsigned char *)memory + book_bytes(ladder_ticks));
}

/* True if no level in the page of `tick` has an order: its four words are zero. */
static bool book_page_is_empty(const struct book_side *side, uint32_t tick)
{
    const uint64_t *words = &side->bitmap[0][tick / BOOK_PAGE_LEVELS * BOOK_PAGE_WORDS];

    return (words[0] | words[1] | words[2] | words[3]) == 0;
}

/* Marks a level that gets its first order: counts its page if the page was empty, then sets its
 * bits upward, up to the first word that was not empty. False when the pages are at their limit;
 * then nothing changes. */
static BOOK_RARE bool book_open_level(struct book *book, struct book_side *side, uint32_t tick)
{
    if (side->bitmap[0][tick >> BOOK_WORD_BITS] == 0 && book_page_is_empty(side, tick)) {
        if (book->pages->used >= book->pages->limit)
            return false;
        book->pages->used++;
    }
    for (uint32_t depth = 0, bit = tick; depth < BOOK_BITMAP_DEPTH; depth++) {
        uint64_t *word = &side->bitmap[depth][bit >> BOOK_WORD_BITS];
        uint64_t before = *word;
        *word = before | 1ull << (bit & 63);
        if (before != 0)
            break;
        bit >>= BOOK_WORD_BITS;
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
        uint64_t word = side->bitmap[depth][tick >> BOOK_WORD_BITS] >> (tick & 63);
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
        tick = tick << BOOK_WORD_BITS | (uint32_t)__builtin_ctzll(side->bitmap[depth][tick]);
    return tick;
}

/* Clears the bits of a level that lost its last order, frees its page if that is now empty, and
 * finds the next best level. */
static BOOK_RARE void book_close_level(struct book *book, struct book_side *side, uint32_t tick)
{
    for (uint32_t depth = 0, bit = tick; depth < BOOK_BITMAP_DEPTH; depth++) {
        uint64_t *word = &side->bitmap[depth][bit >> BOOK_WORD_BITS];
        *word &= ~(1ull << (bit & 63));
        if (*word != 0)
            break;
        bit >>= BOOK_WORD_BITS;
    }
    if (side->bitmap[0][tick >> BOOK_WORD_BITS] == 0 && book_page_is_empty(side, tick)) {
        INVARIANT(book->pages->used > 0);
        book->pages->used--;
    }
    if (tick == side->best)
        side->best = book_find(side, tick, book->top);
}

bool book_insert(struct book *book, uint32_t order)
{
    struct order *record = &book->orders[order];
    struct book_side *side = &book->sides[record->side];
    struct book_level *level = &side->levels[record->tick];
    uint32_t head = level->head;
    uint32_t tail = level->tail;

    INVARIANT(order != ORDER_NONE && record->remaining != 0);
    INVARIANT(record->tick <= book->top);
    if (CC_UNLIKELY(head == ORDER_NONE)) {
        if (!book_open_level(book, side, record->tick))
            return false;
        head = order;
    }
    record->next = ORDER_NONE;
    record->prev = tail;
    book->orders[tail].next = order; /* of the dummy if the level was empty */
    level->head = head;
    level->tail = order;
    level->quantity += record->remaining;
    side->order_counts[record->tick]++;
    side->order_count++;
    return true;
}

void book_remove(struct book *book, uint32_t order)
{
    struct order *record = &book->orders[order];
    struct book_side *side = &book->sides[record->side];
    struct book_level *level = &side->levels[record->tick];
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
    side->order_counts[record->tick]--;
    side->order_count--;
    if (CC_UNLIKELY(head == ORDER_NONE)) {
        INVARIANT(level->quantity == 0);
        book_close_level(book, side, record->tick);
    }
}

void book_reduce(struct book *book, uint32_t order, uint64_t quantity)
{
    struct order *record = &book->orders[order];
    struct book_level *level = &book->sides[record->side].levels[record->tick];

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

bool book_frees_page(const struct book *book, enum order_side side, uint32_t tick)
{
    const struct book_side *ladder = &book->sides[side];
    const uint64_t *words = &ladder->bitmap[0][tick / BOOK_PAGE_LEVELS * BOOK_PAGE_WORDS];
    int levels = 0;

    for (uint32_t i = 0; i < BOOK_PAGE_WORDS; i++)
        levels += __builtin_popcountll(words[i]);
    return levels == 1 && ladder->order_counts[tick] == 1;
}

bool book_ahead(const struct book *book, uint32_t order, uint32_t steps, uint64_t *quantity)
{
    const struct order *record = &book->orders[order];
    const struct book_level *level = &book->sides[record->side].levels[record->tick];
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
    const struct book_level *level = &book->sides[side].levels[tick];
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
    INVARIANT(book->sides[side].order_counts[tick] == count);
    INVARIANT(count != 0);
}

uint32_t book_check_side(const struct book *book, enum order_side side)
{
    const struct book_side *ladder = &book->sides[side];
    uint32_t order_count = 0;
    uint32_t page_count = 0;
    uint32_t page = UINT32_MAX;
    uint32_t tick = book_find(ladder, 0, book->top);

    INVARIANT(tick == ladder->best);
    for (; tick != BOOK_TICK_NONE; tick = book_next(book, side, tick)) {
        book_check_level(book, side, tick);
        order_count += ladder->order_counts[tick];
        page_count += tick / BOOK_PAGE_LEVELS != page;
        page = tick / BOOK_PAGE_LEVELS;
    }
    INVARIANT(ladder->order_count == order_count);
    return page_count;
}
