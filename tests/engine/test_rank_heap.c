/* The heap gives portfolios by score, then owner, then index, those of account 0 last (R7, L3),
 * against a plain search. */
#include "engine/table/rank_heap.h"
#include "rig.h"

enum { RECORDS = 200 };

static struct rank_heap_row want[RECORDS];
static bool is_there[RECORDS];

/* By the words of R7, one after the other. */
static bool is_better(const struct rank_heap_row *a, const struct rank_heap_row *b)
{
    uint64_t account_a = a->owner >> 32, account_b = b->owner >> 32;

    if (account_a == 0 && account_b != 0)
        return false;
    if (account_b == 0 && account_a != 0)
        return true;
    if (a->score != b->score)
        return a->score > b->score;
    if (account_a != account_b)
        return account_a < account_b;
    if ((uint32_t)a->owner != (uint32_t)b->owner)
        return (uint32_t)a->owner < (uint32_t)b->owner;
    return a->portfolio_index < b->portfolio_index;
}

static uint32_t best_of_want(uint32_t *count)
{
    uint32_t best = RECORDS;

    *count = 0;
    for (uint32_t i = 0; i < RECORDS; i++) {
        *count += is_there[i];
        if (is_there[i] && (best == RECORDS || is_better(&want[i], &want[best])))
            best = i;
    }
    return best;
}

static void check_same(const struct rank_heap *heap, uint32_t looked_at)
{
    uint32_t count, best = best_of_want(&count);

    CHECK(heap->count == count);
    CHECK(count == 0 || heap->rows[1].portfolio == best);
    CHECK((rank_heap_find(heap, looked_at) != NULL) == is_there[looked_at]);
}

static void put(struct rank_heap *heap, uint32_t i, uint64_t *random)
{
    want[i] = (struct rank_heap_row){
        .score = (int64_t)rig_below(random, 9) - 4, /* many equal ones */
        .owner = (uint64_t)(i / 8) << 32 | i / 4 % 2,
        .portfolio_index = i % 4,
        .portfolio = i,
    };
    is_there[i] = true;
    rank_heap_put(heap, &want[i]);
}

int main(void)
{
    size_t bytes = rank_heap_bytes(RECORDS);
    struct rank_heap heap;
    uint64_t random = 11;
    uint32_t count;

    rank_heap_init(&heap, rig_memory(bytes), RECORDS);
    rank_heap_remove(&heap, 5); /* nothing there: nothing happens */
    for (uint32_t turn = 0; turn < 60000; turn++) {
        uint32_t i = rig_below(&random, RECORDS);
        if (turn % 20000 == 19999) {
            rank_heap_clear(&heap);
            memset(is_there, 0, sizeof is_there);
        } else if (is_there[i]) {
            rank_heap_remove(&heap, i);
            is_there[i] = false;
        } else {
            put(&heap, i, &random);
        }
        check_same(&heap, rig_below(&random, RECORDS));
    }
    for (uint32_t i = 0; i < RECORDS; i++)
        if (!is_there[i])
            put(&heap, i, &random);
    while (heap.count != 0) { /* drained in order */
        uint32_t best = best_of_want(&count);
        CHECK(rank_heap_pop(&heap).portfolio == best);
        is_there[best] = false;
        check_same(&heap, best);
    }
    rig_free(heap.rows, bytes);
    return 0;
}
