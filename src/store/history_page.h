/* history_page.h - pages of the history's file as bytes: LMDB 0.9's format, read with every number
 * checked.
 *
 *   meta pages ──> roots of tables ──> branch pages ──> leaf pages ──> rows
 *              └─> list of free pages
 *
 * Numbers are in the machine's order. A page of 4,096 bytes begins with
 *   number u64[0] pad u16[8] flags u16[10] lower u16[12] upper u16[14]
 * then at 16 come the offsets of its nodes, u16 each; an overflow page has the count of its pages
 * u32[12]. A node is
 *   low u16[0] high u16[2] flags u16[4] key_bytes u16[6] key[8] data
 * where low and high are the bytes of data, in a branch page with `flags` the child's number.
 * A tree is
 *   pad u32[0] flags u16[4] depth u16[6] branches u64[8] leaves u64[16] overflows u64[24]
 *   entries u64[32] root u64[40]
 * and a meta page, from 16 on
 *   magic u32[0] version u32[4] address u64[8] map u64[16] free tree[24] main tree[72]
 *   last page u64[120] transaction u64[128]
 *
 * Any thread; no state. */
#ifndef STORE_HISTORY_PAGE_H
#define STORE_HISTORY_PAGE_H

#include "store/history_file.h"

enum {
    HISTORY_PAGE_BYTES = 4096,
    HISTORY_PAGE_HEAD_BYTES = 16,
    HISTORY_META_PAGES = 2,
    HISTORY_DEPTH_MAX = 16, /* of a tree */
    HISTORY_KEY_MAX = 64,   /* bytes of any key */
    HISTORY_TREE_BYTES = 48,
    HISTORY_TREE_INTEGERS = 8, /* flags of a tree: keys are u64 */
    HISTORY_NODE_BIG = 1,      /* data: the number of the first of its overflow pages */
    HISTORY_NODE_TREE = 2,     /* data: a tree */
};

#define HISTORY_ROOT_NONE UINT64_MAX

struct history_tree {
    uint16_t flags, depth;
    uint64_t branches, leaves, overflows, entries, root;
};

struct history_meta {
    struct history_tree free, main;
    uint64_t last_page, transaction;
};

struct history_node {
    const uint8_t *key, *data;
    uint32_t key_bytes, data_bytes;
    uint16_t flags;
    uint64_t child; /* of a branch page */
};

extern const char *const history_page_table_names[HISTORY_TABLES];

CC_MUST_USE struct history_tree history_page_tree(const uint8_t bytes[HISTORY_TREE_BYTES]);

/* Whether the page is meta page `number`, 0 or 1; fills *meta. */
CC_MUST_USE bool history_page_meta(const uint8_t *page, uint32_t number, struct history_meta *meta);

/* Whether a branch or leaf page has this number, and its nodes fill it from `upper` to its end. */
CC_MUST_USE bool history_page_is_sound(const uint8_t *page, uint64_t number);

/* Of a sound page. */
CC_MUST_USE bool history_page_is_leaf(const uint8_t *page);
CC_MUST_USE uint32_t history_page_count(const uint8_t *page);

/* Node k, below the count, of a page whose offsets were counted; false if it leaves the page. */
CC_MUST_USE bool history_page_node(const uint8_t *page, uint32_t k, struct history_node *node);

/* Of a sound branch page, the child whose keys the key is among; of a sound leaf page the first
 * node whose key is not below it, or the count. */
CC_MUST_USE uint32_t history_page_find(const uint8_t *page, const uint8_t *key, size_t key_bytes);

/* Pages of `bytes` of data in pages of their own. */
CC_MUST_USE uint64_t history_page_overflows(uint64_t bytes);

/* Whether `page` is the first of `count` overflow pages from number `first` on. */
CC_MUST_USE bool history_page_is_overflow(const uint8_t *page, uint64_t first, uint64_t count);

CC_MUST_USE bool history_page_is_named(const struct history_node *node, const char *name);

#endif
