#include "store/history_check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"

struct level {
    uint32_t count, next;
    uint8_t page[HISTORY_PAGE_BYTES];
};

/* A walk over the file. */
struct check {
    int file;
    struct history_meta meta;
    uint64_t pages;
    uint8_t *seen;                /* a bit for each page */
    struct history_sums *learned; /* NULL: nobody learns the pages */
    struct history_head head;
    bool has_head;
    bool has_table[HISTORY_TABLES];
    struct history_tree tables[HISTORY_TABLES], head_tree;
    uint64_t rows[HISTORY_TABLES], sums[HISTORY_TABLES], newest;
};

/* A walk over one tree. */
struct walk {
    struct check *check;
    const struct history_tree *tree;
    int (*check_node)(struct walk *walk, const struct history_node *node);
    enum history_table table;
    uint64_t branches, leaves, overflows, entries;
    uint8_t last[HISTORY_KEY_MAX]; /* the key before, if `has_last` */
    uint32_t last_bytes;
    bool has_last;
    bool last_is_floor; /* of a branch page: the next key may be the same */
    uint32_t depth;
    struct level levels[HISTORY_DEPTH_MAX];
};

uint32_t history_check_row_crc(enum history_table table, const uint8_t *key, const void *row,
                               size_t bytes)
{
    uint8_t name = (uint8_t)table;
    return crc32c_extend(crc32c_extend(crc32c(&name, 1), key, history_check_key_bytes(table)), row,
                         bytes);
}

uint32_t history_check_head_crc(const struct history_head *head)
{
    struct history_head copy = *head;
    copy.crc = 0;
    return crc32c(&copy, sizeof copy);
}

/* ---- pages ----------------------------------------------------------------------------------- */

static int read_page(const struct check *check, uint64_t number, uint8_t *page)
{
    ssize_t got =
        pread(check->file, page, HISTORY_PAGE_BYTES, (off_t)(number * HISTORY_PAGE_BYTES));

    if (got < 0)
        return errno == EIO ? -EBADMSG : -errno;
    if (got != HISTORY_PAGE_BYTES)
        return -EBADMSG;
    return check->learned != NULL ? history_sums_learn(check->learned, number, page) : 0;
}

/* A page belongs to one thing only. */
static int mark(const struct check *check, uint64_t number)
{
    if (number < HISTORY_META_PAGES || number > check->meta.last_page)
        return -EBADMSG;
    uint8_t bit = (uint8_t)(1 << (number & 7));
    if ((check->seen[number / 8] & bit) != 0)
        return -EBADMSG;
    check->seen[number / 8] |= bit;
    return 0;
}

/* ---- a tree ---------------------------------------------------------------------------------- */

static int compare(const struct walk *walk, const struct history_node *node)
{
    if (walk->tree->flags == HISTORY_TREE_INTEGERS) {
        uint64_t a = cc_load64(node->key), b = cc_load64(walk->last);
        return (a > b) - (a < b);
    }
    uint32_t common = node->key_bytes < walk->last_bytes ? node->key_bytes : walk->last_bytes;
    int order = memcmp(node->key, walk->last, common);
    return order != 0 ? order : (int)node->key_bytes - (int)walk->last_bytes;
}

static int pass_key(struct walk *walk, const struct history_node *node, bool is_floor)
{
    if (walk->tree->flags == HISTORY_TREE_INTEGERS && node->key_bytes != sizeof(uint64_t))
        return -EBADMSG;
    if (node->key_bytes == 0)
        return -EBADMSG;
    int order = walk->has_last ? compare(walk, node) : 1;
    if (walk->has_last && (walk->last_is_floor ? order < 0 : order <= 0))
        return -EBADMSG;
    memcpy(walk->last, node->key, node->key_bytes);
    walk->last_bytes = node->key_bytes;
    walk->has_last = true;
    walk->last_is_floor = is_floor;
    return 0;
}

static int enter(struct walk *walk, uint64_t number)
{
    if (walk->depth == walk->tree->depth)
        return -EBADMSG;
    struct level *level = &walk->levels[walk->depth];
    int failed = mark(walk->check, number);
    if (failed == 0)
        failed = read_page(walk->check, number, level->page);
    if (failed == 0 && !history_page_is_sound(level->page, number))
        failed = -EBADMSG;
    if (failed != 0)
        return failed;
    bool is_leaf = history_page_is_leaf(level->page);
    level->count = history_page_count(level->page);
    level->next = 0;
    walk->depth++;
    walk->leaves += is_leaf;
    walk->branches += !is_leaf;
    return is_leaf == (walk->depth == walk->tree->depth) ? 0 : -EBADMSG;
}

/* The next node of the deepest page. */
static int step(struct walk *walk)
{
    struct level *level = &walk->levels[walk->depth - 1];
    struct history_node node;

    if (level->next == level->count) {
        walk->depth--;
        return 0;
    }
    if (!history_page_node(level->page, level->next, &node))
        return -EBADMSG;
    bool is_first = level->next++ == 0;
    if (walk->depth == walk->tree->depth) {
        walk->entries++;
        int failed = pass_key(walk, &node, false);
        return failed != 0 ? failed : walk->check_node(walk, &node);
    }
    int failed = is_first ? 0 : pass_key(walk, &node, true); /* the first has no key of its own */
    return failed != 0 ? failed : enter(walk, node.child);
}

static int walk_tree(struct check *check, const struct history_tree *tree, enum history_table table,
                     int (*check_node)(struct walk *walk, const struct history_node *node))
{
    struct walk *walk = calloc(1, sizeof *walk);

    if (walk == NULL)
        return -ENOMEM;
    *walk = (struct walk){ .check = check, .tree = tree, .check_node = check_node, .table = table };
    bool is_empty = tree->root == HISTORY_ROOT_NONE;
    int failed = tree->depth > HISTORY_DEPTH_MAX || is_empty != (tree->depth == 0) ? -EBADMSG : 0;
    if (failed == 0 && !is_empty)
        failed = enter(walk, tree->root);
    while (failed == 0 && walk->depth != 0)
        failed = step(walk);
    if (failed == 0 && (walk->branches != tree->branches || walk->leaves != tree->leaves ||
                        walk->overflows != tree->overflows || walk->entries != tree->entries))
        failed = -EBADMSG;
    free(walk);
    return failed;
}

/* ---- free pages ------------------------------------------------------------------------------ */

/* A list of pages: its count, then their numbers, the highest first. */
static int check_list(const struct check *check, const uint8_t *list, uint64_t bytes)
{
    uint64_t before = UINT64_MAX;

    if (bytes < sizeof(uint64_t) || cc_load64(list) > bytes / sizeof(uint64_t) - 1)
        return -EBADMSG;
    for (uint64_t k = 1; k <= cc_load64(list); k++) {
        uint64_t number = cc_load64(list + k * sizeof(uint64_t));
        int failed = number < before ? mark(check, number) : -EBADMSG;
        if (failed != 0)
            return failed;
        before = number;
    }
    return 0;
}

/* A list in pages of its own. */
static int check_big(struct walk *walk, uint64_t first, uint64_t bytes)
{
    const struct check *check = walk->check;
    uint64_t count = history_page_overflows(bytes);

    if (first > check->meta.last_page || count > check->meta.last_page)
        return -EBADMSG;
    uint8_t *pages = malloc(count * HISTORY_PAGE_BYTES);
    if (pages == NULL)
        return -ENOMEM;
    int failed = 0;
    for (uint64_t k = 0; k < count && failed == 0; k++) {
        failed = mark(check, first + k);
        if (failed == 0)
            failed = read_page(check, first + k, pages + k * HISTORY_PAGE_BYTES);
    }
    if (failed == 0 && !history_page_is_overflow(pages, first, count))
        failed = -EBADMSG;
    walk->overflows += count;
    if (failed == 0)
        failed = check_list(check, pages + HISTORY_PAGE_HEAD_BYTES, bytes);
    free(pages);
    return failed;
}

static int check_free(struct walk *walk, const struct history_node *node)
{
    if (cc_load64(node->key) > walk->check->meta.transaction)
        return -EBADMSG;
    if (node->flags == HISTORY_NODE_BIG)
        return check_big(walk, cc_load64(node->data), node->data_bytes);
    return node->flags == 0 ? check_list(walk->check, node->data, node->data_bytes) : -EBADMSG;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static int check_table(struct walk *walk, const struct history_node *node)
{
    struct check *check = walk->check;

    if (node->flags != HISTORY_NODE_TREE || node->data_bytes != HISTORY_TREE_BYTES)
        return -EBADMSG;
    struct history_tree tree = history_page_tree(node->data);
    if (tree.flags != 0)
        return -EBADMSG;
    if (history_page_is_named(node, "head")) {
        check->head_tree = tree;
        check->has_head = true;
        return 0;
    }
    for (int i = 0; i < HISTORY_TABLES; i++)
        if (history_page_is_named(node, history_page_table_names[i])) {
            check->tables[i] = tree;
            check->has_table[i] = true;
            return 0;
        }
    return -EBADMSG;
}

static int check_head(struct walk *walk, const struct history_node *node)
{
    struct check *check = walk->check;

    if (node->flags != 0 || !history_page_is_named(node, "head") ||
        node->data_bytes != sizeof check->head)
        return -EBADMSG;
    memcpy(&check->head, node->data, sizeof check->head);
    return check->head.crc == history_check_head_crc(&check->head) ? 0 : -EBADMSG;
}

static int check_row(struct walk *walk, const struct history_node *node)
{
    struct check *check = walk->check;

    size_t key_bytes = history_check_key_bytes(walk->table);

    if (node->flags != 0 || node->key_bytes != key_bytes || node->data_bytes < HISTORY_CRC_BYTES ||
        node->data_bytes > HISTORY_ROW_BYTES_MAX + HISTORY_CRC_BYTES)
        return -EBADMSG;
    size_t bytes = node->data_bytes - HISTORY_CRC_BYTES;
    uint32_t crc = history_check_row_crc(walk->table, node->key, node->data, bytes);
    if (crc != cc_load32(node->data + bytes))
        return -EBADMSG;
    bool is_gap = cc_load32(node->key + key_bytes - 4) == UINT32_MAX;
    bool is_numbered = history_check_is_timed(walk->table) || walk->table == HISTORY_PRIVATE;
    if (!is_numbered &&
        __builtin_bswap64(cc_load64(node->key + key_bytes - 12)) > check->head.applied)
        return -EBADMSG;
    if (history_check_has_sequence(walk->table) && !is_gap &&
        (bytes < sizeof(uint64_t) || cc_load64(node->data) > check->head.applied))
        return -EBADMSG;
    bool has_gaps = walk->table < HISTORY_LISTS && walk->table != HISTORY_PRIVATE;
    if (is_gap ? bytes != sizeof(uint64_t) || !has_gaps : bytes == 0)
        return -EBADMSG;
    check->rows[walk->table]++;
    check->sums[walk->table] += crc;
    return 0;
}

static int check_tables(struct check *check)
{
    int failed = walk_tree(check, &check->meta.main, HISTORY_TABLES, check_table);

    if (failed != 0 || check->meta.main.entries == 0)
        return failed; /* or a start ended before the first commit */
    if (!check->has_head || check->head_tree.entries != 1)
        return -EBADMSG;
    failed = walk_tree(check, &check->head_tree, HISTORY_TABLES, check_head);
    for (int i = 0; i < HISTORY_TABLES && failed == 0; i++) {
        if (!check->has_table[i])
            return -EBADMSG;
        failed = walk_tree(check, &check->tables[i], (enum history_table)i, check_row);
        if (failed == 0 &&
            (check->rows[i] != check->head.rows[i] || check->sums[i] != check->head.sums[i]))
            failed = -EBADMSG;
    }
    return failed;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* The newer of two; LMDB reads both. */
static int choose_meta(struct check *check)
{
    uint8_t page[HISTORY_PAGE_BYTES];
    struct history_meta metas[HISTORY_META_PAGES];

    for (uint32_t i = 0; i < HISTORY_META_PAGES; i++) {
        int failed = read_page(check, i, page);
        if (failed != 0)
            return failed;
        if (!history_page_meta(page, i, &metas[i]))
            return -EBADMSG;
    }
    check->meta = metas[metas[1].transaction > metas[0].transaction];
    return check->meta.last_page < check->pages ? 0 : -EBADMSG;
}

static int check_file(struct check *check)
{
    struct stat status;

    if (fstat(check->file, &status) != 0)
        return -errno;
    if (!S_ISREG(status.st_mode))
        return -EBADMSG;
    if (status.st_size == 0)
        return 0; /* LMDB begins it */
    check->pages = (uint64_t)status.st_size / HISTORY_PAGE_BYTES;
    int failed = choose_meta(check);
    if (failed != 0)
        return failed;
    check->seen = calloc(1, check->meta.last_page / 8 + 1);
    if (check->seen == NULL)
        return -ENOMEM;
    failed = check_tables(check);
    if (failed == 0)
        failed = walk_tree(check, &check->meta.free, HISTORY_TABLES, check_free);
    return failed;
}

static void sum_totals(const struct check *check, struct history_totals *totals)
{
    struct stat status;

    *totals = (struct history_totals){ .head = check->head, .is_there = check->file >= 0 };
    for (int i = 0; i < HISTORY_TABLES; i++)
        totals->pages[i] = check->tables[i].branches + check->tables[i].leaves;
    if (check->file >= 0 && fstat(check->file, &status) == 0)
        totals->file_bytes = (uint64_t)status.st_size;
}

int history_check(const char *path, struct history_totals *totals, struct history_sums *sums)
{
    struct check *check = calloc(1, sizeof *check);

    if (check == NULL)
        return -ENOMEM;
    check->learned = sums;
    check->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int failed = check->file < 0 ? -errno : check_file(check);
    if (failed == -ENOENT)
        failed = 0;
    if (failed == 0 && totals != NULL)
        sum_totals(check, totals);
    if (check->file >= 0)
        close(check->file);
    free(check->seen);
    free(check);
    return failed;
}
