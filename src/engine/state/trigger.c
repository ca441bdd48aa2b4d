#include "engine/state/trigger.h"

#include "engine/state/state.h"
#include "engine/table/image_read.h"
#include "engine/table/image_sink.h"

enum { TRIGGER_RUNS = 32 };

#define TRIGGER_BATCH_MASK ((UINT32_C(1) << WORK_ITEM_BITS) - 1)

/* --- prices ----------------------------------------------------------------------------------- */

/* What its source is at, 0: nothing yet. */
static uint64_t source_price(const struct engine *engine, const struct conditional *row)
{
    const struct market *market = &engine->markets.rows[row->market];

    if (row->source == SOURCE_INDEX)
        return market->index_price;
    return row->source == SOURCE_LAST ? market->last_price : market->mark;
}

bool trigger_is_met(const struct engine *engine, const struct conditional *row)
{
    uint64_t price = source_price(engine, row);

    if (price == 0)
        return false;
    return conditional_direction(row) == TRIGGER_RISING ? price >= row->trigger_price
                                                        : price <= row->trigger_price;
}

bool trigger_may_fire(const struct engine *engine, uint32_t market)
{
    return market_matches(&engine->markets.rows[market]) && market_mark_is_valid(engine, market);
}

/* --- a tree ----------------------------------------------------------------------------------- */

/* Where a row is in its tree: by price, then placing. An armed one is where every mark
 * meets it. */
struct key {
    uint64_t price;
    uint64_t sequence;
};

static struct key key_of(const struct conditional *row)
{
    return (struct key){ row->armed ? 0 : row->trigger_price, row->placed_sequence };
}

static bool is_below(struct key a, struct key b)
{
    return a.price != b.price ? a.price < b.price : a.sequence < b.sequence;
}

static struct conditional_tree *tree_of(struct engine *engine, const struct conditional *row)
{
    struct conditional_tree(*trees)[TRIGGER_DIRECTIONS] = engine->conditionals.trees[row->market];

    return row->armed ? &trees[SOURCE_MARK][TRIGGER_RISING]
                      : &trees[row->source][conditional_direction(row)];
}

/* Cuts the tree: what is below the key goes to *low, the rest to *high. */
static void split(struct conditional *rows, uint32_t root, struct key at, uint32_t *low,
                  uint32_t *high)
{
    while (root != CONDITIONAL_NONE) {
        if (is_below(key_of(&rows[root]), at)) {
            *low = root;
            low = &rows[root].right;
            root = *low;
        } else {
            *high = root;
            high = &rows[root].left;
            root = *high;
        }
    }
    *low = CONDITIONAL_NONE;
    *high = CONDITIONAL_NONE;
}

/* Joins two trees, each row of `low` below each of `high`; gives the root. */
static uint32_t join(struct conditional *rows, uint32_t low, uint32_t high)
{
    uint32_t root = CONDITIONAL_NONE;
    uint32_t *link = &root;

    while (low != CONDITIONAL_NONE && high != CONDITIONAL_NONE) {
        if (rows[low].hash >= rows[high].hash) {
            *link = low;
            link = &rows[low].right;
            low = *link;
        } else {
            *link = high;
            link = &rows[high].left;
            high = *link;
        }
    }
    *link = low != CONDITIONAL_NONE ? low : high;
    return root;
}

/* The trigger that is met first, known without a descent afterwards. */
static void find_nearest(const struct conditional *rows, struct conditional_tree *tree,
                         bool is_rising)
{
    uint32_t at = tree->root;

    if (at == CONDITIONAL_NONE) {
        tree->nearest = is_rising ? UINT64_MAX : 0;
        return;
    }
    for (uint32_t next = at; next != CONDITIONAL_NONE;
         next = is_rising ? rows[at].left : rows[at].right)
        at = next;
    tree->nearest = key_of(&rows[at]).price;
}

static bool is_rising(const struct conditional *row)
{
    return row->armed || conditional_direction(row) == TRIGGER_RISING;
}

void trigger_wait(struct engine *engine, uint32_t index)
{
    struct conditional *rows = engine->conditionals.rows;
    struct conditional *row = &rows[index];
    struct conditional_tree *tree = tree_of(engine, row);
    struct key key = key_of(row);
    uint32_t *link = &tree->root;

    INVARIANT(row->waits_in == WAITS_NOWHERE);
    while (*link != CONDITIONAL_NONE && rows[*link].hash >= row->hash)
        link = is_below(key, key_of(&rows[*link])) ? &rows[*link].left : &rows[*link].right;
    split(rows, *link, key, &row->left, &row->right);
    *link = index;
    row->waits_in = WAITS_IN_TREE;
    if (is_rising(row) ? key.price < tree->nearest : key.price > tree->nearest)
        tree->nearest = key.price;
}

static void leave_tree(struct engine *engine, uint32_t index)
{
    struct conditional *rows = engine->conditionals.rows;
    struct conditional *row = &rows[index];
    struct conditional_tree *tree = tree_of(engine, row);
    struct key key = key_of(row);
    uint32_t *link = &tree->root;

    while (*link != index) {
        INVARIANT(*link != CONDITIONAL_NONE);
        link = is_below(key, key_of(&rows[*link])) ? &rows[*link].left : &rows[*link].right;
    }
    *link = join(rows, row->left, row->right);
    if (key.price == tree->nearest)
        find_nearest(rows, tree, is_rising(row));
}

/* --- the queue -------------------------------------------------------------------------------- */

static void leave_queue(struct engine *engine, uint32_t index)
{
    struct conditional_table *table = &engine->conditionals;
    const struct conditional *row = &table->rows[index];

    *(row->left == CONDITIONAL_NONE ? &table->queue_head : &table->rows[row->left].right) =
        row->right;
    *(row->right == CONDITIONAL_NONE ? &table->queue_tail : &table->rows[row->right].left) =
        row->left;
}

void trigger_forget(struct engine *engine, uint32_t index)
{
    struct conditional *row = &engine->conditionals.rows[index];

    if (row->waits_in == WAITS_IN_TREE)
        leave_tree(engine, index);
    else if (row->waits_in == WAITS_IN_QUEUE)
        leave_queue(engine, index);
    row->waits_in = WAITS_NOWHERE;
    row->left = CONDITIONAL_NONE;
    row->right = CONDITIONAL_NONE;
}

static void append(struct conditional_table *table, uint32_t index, uint32_t batch)
{
    struct conditional *row = &table->rows[index];

    row->waits_in = WAITS_IN_QUEUE;
    row->batch = batch;
    row->right = CONDITIONAL_NONE;
    row->left = table->queue_tail;
    *(row->left == CONDITIONAL_NONE ? &table->queue_head : &table->rows[row->left].right) = index;
    table->queue_tail = index;
}

/* The number of the item that a batch goes to: the last of the work, or a new one after it. */
static uint32_t open_batch(struct engine *engine)
{
    struct conditional_table *table = &engine->conditionals;

    if (!work_queue_ends_with(engine, WORK_TRIGGER)) {
        if (table->batch_count++ == 0)
            table->batch_first = 0;
        work_queue_push(engine, WORK_TRIGGER,
                        (table->batch_first + table->batch_count - 1) & TRIGGER_BATCH_MASK);
    }
    return (table->batch_first + table->batch_count - 1) & TRIGGER_BATCH_MASK;
}

/* --- events ----------------------------------------------------------------------------------- */

/* Two lists by placing sequence to one; linked by right. */
static uint32_t merge(struct conditional *rows, uint32_t a, uint32_t b)
{
    uint32_t head = CONDITIONAL_NONE;
    uint32_t *link = &head;

    while (a != CONDITIONAL_NONE && b != CONDITIONAL_NONE) {
        uint32_t *first = rows[b].placed_sequence < rows[a].placed_sequence ? &b : &a;
        *link = *first;
        link = &rows[*first].right;
        *first = *link;
    }
    *link = a != CONDITIONAL_NONE ? a : b;
    return head;
}

/* The rows of a tree, each as a run of its own: a merge sort by a counter of sorted runs (runs[k]:
 * none, or a list of 2^k rows). The tree is taken apart by turning it to the right, so this needs
 * no stack. */
static void add_runs(struct conditional *rows, uint32_t root, uint64_t price,
                     uint32_t runs[TRIGGER_RUNS])
{
    while (root != CONDITIONAL_NONE) {
        uint32_t left = rows[root].left;
        if (left != CONDITIONAL_NONE) {
            rows[root].left = rows[left].right;
            rows[left].right = root;
            root = left;
            continue;
        }
        uint32_t run = root, k = 0;
        root = rows[root].right;
        rows[run].right = CONDITIONAL_NONE;
        if (!rows[run].armed)
            rows[run].hit_price = price;
        for (; runs[k] != CONDITIONAL_NONE; k++) {
            run = merge(rows, runs[k], run);
            runs[k] = CONDITIONAL_NONE;
        }
        runs[k] = run;
    }
}

static bool tree_is_met(const struct conditional_tree *tree, bool rising, uint64_t price)
{
    return rising ? price >= tree->nearest : price <= tree->nearest;
}

/* Takes what this price meets out of the two trees of a source. */
static void collect(struct engine *engine, uint32_t market, enum conditional_source source,
                    uint64_t price, uint32_t runs[TRIGGER_RUNS])
{
    struct conditional *rows = engine->conditionals.rows;
    struct conditional_tree *rising = &engine->conditionals.trees[market][source][TRIGGER_RISING];
    struct conditional_tree *falling = &engine->conditionals.trees[market][source][TRIGGER_FALLING];
    uint32_t met;

    if (tree_is_met(rising, true, price)) {
        split(rows, rising->root, (struct key){ price, UINT64_MAX }, &met, &rising->root);
        find_nearest(rows, rising, true);
        add_runs(rows, met, price, runs);
    }
    if (tree_is_met(falling, false, price)) {
        split(rows, falling->root, (struct key){ price, 0 }, &falling->root, &met);
        find_nearest(rows, falling, false);
        add_runs(rows, met, price, runs);
    }
}

static void queue_runs(struct engine *engine, uint32_t runs[TRIGGER_RUNS])
{
    struct conditional_table *table = &engine->conditionals;
    uint32_t sorted = CONDITIONAL_NONE;

    for (uint32_t k = 0; k < TRIGGER_RUNS; k++)
        sorted = merge(table->rows, runs[k], sorted);
    if (sorted == CONDITIONAL_NONE)
        return;
    uint32_t batch = open_batch(engine);
    while (sorted != CONDITIONAL_NONE) {
        uint32_t index = sorted;
        sorted = table->rows[index].right;
        append(table, index, batch);
    }
}

static bool source_is_met(const struct engine *engine, uint32_t market,
                          enum conditional_source source, uint64_t price)
{
    const struct conditional_tree *trees = engine->conditionals.trees[market][source];

    return tree_is_met(&trees[TRIGGER_RISING], true, price) ||
           tree_is_met(&trees[TRIGGER_FALLING], false, price);
}

void trigger_mark_computed(struct engine *engine, uint32_t market)
{
    const struct market *row = &engine->markets.rows[market];
    uint32_t runs[TRIGGER_RUNS] = { CONDITIONAL_NONE };

    if (!source_is_met(engine, market, SOURCE_MARK, row->mark) &&
        !source_is_met(engine, market, SOURCE_INDEX, row->index_price))
        return;
    if (!trigger_may_fire(engine, market))
        return;
    collect(engine, market, SOURCE_MARK, row->mark, runs);
    collect(engine, market, SOURCE_INDEX, row->index_price, runs);
    queue_runs(engine, runs);
}

/* Apart from trigger_traded, so that a trade that satisfies nothing does not clear the runs. */
static __attribute__((noinline)) void fire_traded(struct engine *engine, uint32_t market,
                                                  uint64_t price)
{
    uint32_t runs[TRIGGER_RUNS] = { CONDITIONAL_NONE };

    collect(engine, market, SOURCE_LAST, price, runs);
    queue_runs(engine, runs);
}

void trigger_traded(struct engine *engine, uint32_t market, uint64_t price)
{
    if (CC_UNLIKELY(source_is_met(engine, market, SOURCE_LAST, price)) &&
        trigger_may_fire(engine, market))
        fire_traded(engine, market, price);
}

/* --- the item --------------------------------------------------------------------------------- */

uint32_t trigger_next(const struct engine *engine, uint32_t batch)
{
    const struct conditional_table *table = &engine->conditionals;
    uint32_t head = table->queue_head;

    INVARIANT(table->batch_count != 0 && batch == table->batch_first);
    return head != CONDITIONAL_NONE && table->rows[head].batch == batch ? head : CONDITIONAL_NONE;
}

bool trigger_waits_for_gap(const struct engine *engine)
{
    const struct work_items *others = &engine->work.rings[WORK_RING_OTHERS];
    const struct conditional_table *table = &engine->conditionals;

    if (CC_LIKELY(engine->work.gaps == 0) || others->count == 0)
        return false;
    uint32_t item = others->items[others->head & others->mask];
    if (item >> WORK_ITEM_BITS != WORK_TRIGGER)
        return false;
    if (table->going != ORDER_NONE)
        return engine->markets.rows[engine->orders.hot[table->going].market].in_gap;
    uint32_t next = trigger_next(engine, item & WORK_INDEX_MASK);
    return next != CONDITIONAL_NONE && engine->markets.rows[table->rows[next].market].in_gap;
}

bool trigger_holds(const struct engine *engine, uint32_t holding)
{
    uint32_t going = engine->conditionals.going;

    return CC_UNLIKELY(going != ORDER_NONE) && engine->orders.hot[going].holding == holding;
}

void trigger_arm(struct engine *engine, uint32_t index)
{
    trigger_forget(engine, index);
    engine->conditionals.rows[index].armed = true;
    trigger_wait(engine, index);
}

void trigger_finish(struct engine *engine, uint32_t batch)
{
    struct conditional_table *table = &engine->conditionals;

    INVARIANT(table->batch_count != 0 && batch == table->batch_first);
    table->batch_first = (table->batch_first + 1) & TRIGGER_BATCH_MASK;
    table->batch_count--;
}

/* The first of the queue that is of this batch or of a later one. */
static uint32_t first_of(const struct conditional_table *table, uint32_t batch)
{
    uint32_t at = table->queue_head;

    while (at != CONDITIONAL_NONE &&
           ((table->rows[at].batch - table->batch_first) & TRIGGER_BATCH_MASK) <
               ((batch - table->batch_first) & TRIGGER_BATCH_MASK))
        at = table->rows[at].right;
    return at;
}

void trigger_image(const struct engine *engine, uint32_t batch, struct image_sink *sink)
{
    const struct conditional *rows = engine->conditionals.rows;
    uint32_t first = first_of(&engine->conditionals, batch), at = first;
    uint64_t count = 0;

    for (; at != CONDITIONAL_NONE && rows[at].batch == batch; at = rows[at].right)
        count++;
    image_u64(sink, count);
    for (at = first; count != 0; at = rows[at].right, count--) {
        image_u64(sink, rows[at].portfolio);
        image_u64(sink, rows[at].placed_sequence);
    }
}

/* A waiting row of the portfolio, by its placing. */
static uint32_t find_waiting(const struct engine *engine, uint64_t portfolio, uint64_t sequence)
{
    const struct conditional *rows = engine->conditionals.rows;
    uint32_t at = CONDITIONAL_NONE;

    if (portfolio < engine->portfolios.count)
        at = engine->portfolios.rows[portfolio].conditional_head;
    while (at != CONDITIONAL_NONE && rows[at].placed_sequence != sequence)
        at = rows[at].list_next;
    return at != CONDITIONAL_NONE && rows[at].waits_in == WAITS_IN_TREE ? at : CONDITIONAL_NONE;
}

bool trigger_load(struct engine *engine, uint32_t batch, struct image_read *read)
{
    struct conditional_table *table = &engine->conditionals;
    uint64_t count, portfolio, sequence;

    if (table->batch_count == 0)
        table->batch_first = batch;
    if (batch != ((table->batch_first + table->batch_count) & TRIGGER_BATCH_MASK))
        return image_read_refuse(read, "batches of triggered orders are not in their order");
    table->batch_count++;
    if (!image_read_u64(read, &count))
        return false;
    for (; count != 0; count--) {
        if (!image_read_u64(read, &portfolio) || !image_read_u64(read, &sequence))
            return false;
        uint32_t index = find_waiting(engine, portfolio, sequence);
        if (index == CONDITIONAL_NONE || table->rows[index].hit_price == 0)
            return image_read_refuse(read, "a batch has an order that does not wait");
        trigger_forget(engine, index);
        append(table, index, batch);
    }
    return true;
}
