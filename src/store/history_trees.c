#include "store/history_trees.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum part { PART_FREE, PART_MAIN, PART_TABLE };

#define LIST_BEGINS UINT64_MAX

struct level {
    uint64_t number;
    uint32_t count, next;
    uint8_t page[HISTORY_PAGE_BYTES];
};

/* A walk over one tree: of its pages that are new, or of all. A page is learned when all below it
 * are: who begins a walk again that was broken off goes by none that is missing. */
struct walk {
    struct history_trees *trees;
    bool is_following; /* new pages are learned; else all are compared */
    enum part part;
    uint32_t tree_depth, depth;
    uint64_t left; /* of a list of free pages */
    struct level levels[HISTORY_DEPTH_MAX];
};

/* ---- walking --------------------------------------------------------------------------------- */

static void note_compared(struct history_trees *trees, uint64_t number)
{
    trees->compared[number / 64] |= UINT64_C(1) << number % 64;
}

static int read_page(struct walk *walk, uint64_t number, uint8_t *page)
{
    struct history_sums *sums = walk->trees->sums;

    if (number > walk->trees->meta.last_page)
        return -EBADMSG;
    if (walk->is_following)
        return history_sums_fetch(sums, number, page);
    int failed = history_sums_read(sums, number, page);
    if (failed == 0)
        note_compared(walk->trees, number);
    return failed;
}

/* Reads a page of the tree: 1, or 0, it was there before and all below it. */
static int pass_page(struct walk *walk, uint64_t number, uint8_t *page)
{
    if (walk->is_following && history_sums_has(walk->trees->sums, number))
        return 0;
    int failed = read_page(walk, number, page);
    return failed != 0 ? failed : 1;
}

/* The page and all below it have been passed. */
static int leave_page(struct walk *walk, uint64_t number, const uint8_t *page)
{
    return walk->is_following ? history_sums_learn(walk->trees->sums, number, page) : 0;
}

static int enter(struct walk *walk, uint64_t number)
{
    if (walk->depth == walk->tree_depth)
        return -EBADMSG;
    struct level *level = &walk->levels[walk->depth];
    int got = pass_page(walk, number, level->page);
    if (got <= 0)
        return got;
    bool is_last = walk->depth + 1 == walk->tree_depth;
    if (!history_page_is_sound(level->page, number) || history_page_is_leaf(level->page) != is_last)
        return -EBADMSG;
    level->number = number;
    level->count = history_page_count(level->page);
    level->next = 0;
    walk->depth++;
    return 0;
}

/* Pages that the commit has freed, as far as the list has come: its count, then their numbers. */
static void drop_listed(struct walk *walk, const uint8_t *at, const uint8_t *end)
{
    for (; at + sizeof(uint64_t) <= end && walk->left != 0; at += sizeof(uint64_t)) {
        if (walk->left == LIST_BEGINS) {
            walk->left = cc_load64(at);
            continue;
        }
        history_sums_drop(walk->trees->sums, cc_load64(at));
        walk->left--;
    }
}

/* An entry of the free pages: those that a commit freed. */
static int see_free(struct walk *walk, const struct history_node *node)
{
    uint8_t begin[HISTORY_PAGE_BYTES], page[HISTORY_PAGE_BYTES];

    if (node->key_bytes != sizeof(uint64_t))
        return -EBADMSG;
    bool is_new = walk->is_following && cc_load64(node->key) == walk->trees->transaction;
    walk->left = is_new ? LIST_BEGINS : 0;
    if ((node->flags & HISTORY_NODE_BIG) == 0) {
        drop_listed(walk, node->data, node->data + node->data_bytes);
        return 0;
    }
    uint64_t first = cc_load64(node->data), count = history_page_overflows(node->data_bytes);
    int got = pass_page(walk, first, begin);
    if (got <= 0)
        return got;
    if (!history_page_is_overflow(begin, first, count))
        return -EBADMSG;
    drop_listed(walk, begin + HISTORY_PAGE_HEAD_BYTES, begin + sizeof begin);
    for (uint64_t k = 1; k < count; k++) {
        int failed = read_page(walk, first + k, page);
        if (failed == 0)
            failed = leave_page(walk, first + k, page);
        if (failed != 0)
            return failed;
        drop_listed(walk, page, page + sizeof page);
    }
    return leave_page(walk, first, begin);
}

/* An entry of the main tree: a table. */
static int see_table(struct walk *walk, const struct history_node *node)
{
    struct history_trees *trees = walk->trees;

    if (node->flags != HISTORY_NODE_TREE || node->data_bytes != HISTORY_TREE_BYTES)
        return -EBADMSG;
    struct history_tree tree = history_page_tree(node->data);
    if (history_page_is_named(node, "head"))
        trees->head = tree;
    for (int i = 0; i < HISTORY_TABLES; i++)
        if (history_page_is_named(node, history_page_table_names[i])) {
            trees->roots.page[i] = tree.root;
            trees->roots.depth[i] = tree.depth;
        }
    return tree.depth <= HISTORY_DEPTH_MAX ? 0 : -EBADMSG;
}

/* The next node of the deepest page. */
static int step(struct walk *walk)
{
    struct level *level = &walk->levels[walk->depth - 1];
    struct history_node node;
    bool is_leaf = walk->depth == walk->tree_depth;

    if (level->next == level->count || (is_leaf && walk->part == PART_TABLE)) {
        walk->depth--;
        return leave_page(walk, level->number, level->page);
    }
    if (!history_page_node(level->page, level->next++, &node))
        return -EBADMSG;
    if (!is_leaf)
        return enter(walk, node.child);
    return walk->part == PART_FREE ? see_free(walk, &node) : see_table(walk, &node);
}

static int walk_tree(struct walk *walk, enum part part, uint64_t root, uint64_t depth)
{
    if (root == HISTORY_ROOT_NONE)
        return 0;
    if (depth > HISTORY_DEPTH_MAX)
        return -EBADMSG;
    walk->part = part;
    walk->tree_depth = (uint32_t)depth;
    walk->depth = 0;
    int failed = enter(walk, root);
    while (failed == 0 && walk->depth != 0)
        failed = step(walk);
    return failed;
}

/* The trees of the meta page, and those of the tables. */
static int walk_trees(struct history_trees *trees, bool is_following, bool with_tables)
{
    struct walk *walk = calloc(1, sizeof *walk);

    if (walk == NULL)
        return -ENOMEM;
    walk->trees = trees;
    walk->is_following = is_following;
    int failed = walk_tree(walk, PART_FREE, trees->meta.free.root, trees->meta.free.depth);
    if (failed == 0)
        failed = walk_tree(walk, PART_MAIN, trees->meta.main.root, trees->meta.main.depth);
    if (failed == 0)
        failed = walk_tree(walk, PART_TABLE, trees->head.root, trees->head.depth);
    for (int i = 0; i < HISTORY_TABLES && failed == 0 && with_tables; i++)
        failed = walk_tree(walk, PART_TABLE, trees->roots.page[i], trees->roots.depth[i]);
    free(walk);
    return failed;
}

/* ---- commits --------------------------------------------------------------------------------- */

static size_t compared_bytes(const struct history_trees *trees)
{
    return (trees->meta.last_page / 64 + 1) * sizeof(uint64_t);
}

int history_trees_init(struct history_trees *trees, struct history_sums *sums)
{
    memset(trees, 0, sizeof *trees);
    trees->sums = sums;
    trees->head.root = HISTORY_ROOT_NONE;
    for (int i = 0; i < HISTORY_TABLES; i++)
        trees->roots.page[i] = HISTORY_ROOT_NONE;
    return history_cache_init(&trees->cache, sums);
}

void history_trees_free(struct history_trees *trees)
{
    history_cache_free(&trees->cache);
    free(trees->compared);
    trees->compared = NULL;
}

/* Release: who sees a word sees the sums of the pages (pairs: history_trees_roots). */
static void publish(struct history_trees *trees)
{
    uint64_t version = atomic_load_explicit(&trees->version, memory_order_relaxed);
    trees->roots.transaction = trees->transaction;
    const uint8_t *bytes = (const uint8_t *)&trees->roots;

    atomic_store_explicit(&trees->version, version + 1, memory_order_relaxed);
    for (size_t i = 0; i < HISTORY_ROOTS_WORDS; i++)
        atomic_store_explicit(&trees->words[i], cc_load64(bytes + 8 * i), memory_order_release);
    /* In one order with the views of cursors (pairs: history_trees_is_newest). */
    atomic_store_explicit(&trees->version, version + 2, memory_order_seq_cst);
}

uint64_t history_trees_roots(const struct history_trees *trees, struct history_roots *roots)
{
    uint64_t before, after;

    do {
        /* Acquire: the words before the second look at the version (pairs: publish). */
        before = atomic_load_explicit(&trees->version, memory_order_acquire);
        for (size_t i = 0; i < HISTORY_ROOTS_WORDS; i++)
            cc_store64((uint8_t *)roots + 8 * i,
                       atomic_load_explicit(&trees->words[i], memory_order_acquire));
        after = atomic_load_explicit(&trees->version, memory_order_relaxed);
    } while (before != after || before % 2 != 0);
    return before;
}

bool history_trees_is_newest(const struct history_trees *trees, uint64_t version)
{
    return atomic_load_explicit(&trees->version, memory_order_seq_cst) == version;
}

int history_trees_follow(struct history_trees *trees, uint64_t transaction)
{
    uint32_t place = (uint32_t)(transaction % HISTORY_META_PAGES);
    uint8_t page[HISTORY_PAGE_BYTES];
    int failed = 0;

    for (uint32_t i = 0; i < HISTORY_META_PAGES && failed == 0; i++) {
        if (i != place && history_sums_has(trees->sums, i))
            continue;
        failed = history_sums_fetch(trees->sums, i, page);
        if (failed == 0 && i == place && !history_page_meta(page, i, &trees->meta))
            failed = -EBADMSG;
        if (failed == 0)
            failed = history_sums_learn(trees->sums, i, page);
    }
    if (failed == 0 && trees->meta.transaction != transaction)
        failed = -EBADMSG;
    trees->transaction = transaction;
    if (failed == 0)
        failed = walk_trees(trees, true, true);
    if (failed == 0)
        publish(trees);
    return failed;
}

int history_trees_begin(struct history_trees *trees)
{
    uint8_t page[HISTORY_PAGE_BYTES];

    free(trees->compared);
    trees->compared = calloc(1, compared_bytes(trees));
    if (trees->compared == NULL)
        return -ENOMEM;
    history_cache_forget(&trees->cache);
    for (uint32_t i = 0; i < HISTORY_META_PAGES; i++) {
        int failed = history_sums_read(trees->sums, i, page);
        if (failed != 0)
            return failed;
    }
    return walk_trees(trees, false, false);
}

int history_trees_touch_all(struct history_trees *trees)
{
    return walk_trees(trees, false, true);
}

/* ---- one key --------------------------------------------------------------------------------- */

/* A leaf, once in a write. */
static int compare_leaf(struct history_trees *trees, uint64_t number)
{
    uint8_t page[HISTORY_PAGE_BYTES];

    if (number > trees->meta.last_page)
        return -EBADMSG;
    if ((trees->compared[number / 64] & UINT64_C(1) << number % 64) != 0)
        return 0;
    int failed = history_sums_read(trees->sums, number, page);
    if (failed == 0)
        note_compared(trees, number);
    return failed;
}

struct separator {
    uint8_t key[HISTORY_KEY_MAX];
    uint32_t key_bytes; /* 0: there is none */
};

/* The children beside child `at` of the page, and the first key that is not below `at`, if there
 * is one: the pages after those of `at` begin with it. */
static int compare_beside(struct history_trees *trees, const uint8_t *page, uint32_t at,
                          struct separator *next)
{
    struct history_node node;

    for (uint32_t k = at == 0 ? 0 : at - 1; k <= at + 1 && k < history_page_count(page); k++) {
        if (!history_page_node(page, k, &node))
            return -EBADMSG;
        int failed = compare_leaf(trees, node.child);
        if (failed != 0)
            return failed;
        if (k == at + 1) {
            memcpy(next->key, node.key, node.key_bytes);
            next->key_bytes = node.key_bytes;
        }
    }
    return 0;
}

/* With `next` the pages beside those of the way too, and *next is where the next leaf begins. */
static int touch(struct history_trees *trees, enum history_table table, const uint8_t *key,
                 size_t key_bytes, struct separator *next)
{
    uint64_t number = trees->roots.page[table], depth = trees->roots.depth[table];
    struct history_node node;
    const uint8_t *page;

    for (; depth > 1 && number != HISTORY_ROOT_NONE; depth--) {
        int failed = history_cache_get(&trees->cache, number, &page);
        if (failed != 0)
            return failed;
        if (history_page_is_leaf(page))
            return -EBADMSG;
        uint32_t at = history_page_find(page, key, key_bytes);
        failed = next != NULL ? compare_beside(trees, page, at, next) : 0;
        if (failed == 0 && !history_page_node(page, at, &node))
            failed = -EBADMSG;
        if (failed != 0)
            return failed;
        number = node.child;
    }
    return number == HISTORY_ROOT_NONE ? 0 : compare_leaf(trees, number);
}

int history_trees_touch(struct history_trees *trees, enum history_table table, const uint8_t *key,
                        size_t key_bytes)
{
    return touch(trees, table, key, key_bytes, NULL);
}

int history_trees_touch_wide(struct history_trees *trees, enum history_table table,
                             const uint8_t *key, size_t key_bytes)
{
    struct separator next = { .key_bytes = 0 }, after = { .key_bytes = 0 };
    int failed = touch(trees, table, key, key_bytes, &next);

    if (failed != 0 || next.key_bytes == 0)
        return failed;
    return touch(trees, table, next.key, next.key_bytes, &after);
}
