#include "store/history_page.h"

#include <string.h>

enum {
    NODE_BYTES = 8,
    PAGE_BRANCH = 1,
    PAGE_LEAF = 2,
    PAGE_OVERFLOW = 4,
    PAGE_META = 8,
    PAGE_FLAGS = 0x3FFF, /* the other two are of no meaning in a file */
};

#define META_MAGIC   UINT32_C(0xBEEFC0DE)
#define META_VERSION 1

const char *const history_page_table_names[HISTORY_TABLES] = {
    "fills",        "trades",  "payments", "rates",     "fund",    "fees",
    "liquidations", "cash",    "orders",   "refusals",  "minutes", "hours",
    "withdrawals",  "private", "requests", "order_ids",
};

struct history_tree history_page_tree(const uint8_t bytes[HISTORY_TREE_BYTES])
{
    return (struct history_tree){
        .flags = cc_load16(bytes + 4),
        .depth = cc_load16(bytes + 6),
        .branches = cc_load64(bytes + 8),
        .leaves = cc_load64(bytes + 16),
        .overflows = cc_load64(bytes + 24),
        .entries = cc_load64(bytes + 32),
        .root = cc_load64(bytes + 40),
    };
}

bool history_page_meta(const uint8_t *page, uint32_t number, struct history_meta *meta)
{
    const uint8_t *at = page + HISTORY_PAGE_HEAD_BYTES;

    *meta = (struct history_meta){
        .free = history_page_tree(at + 24),
        .main = history_page_tree(at + 72),
        .last_page = cc_load64(at + 120),
        .transaction = cc_load64(at + 128),
    };
    /* A commit goes to the page of its transaction's parity; a new file has two of number 0. */
    bool is_in_place = meta->transaction % HISTORY_META_PAGES == number || meta->transaction == 0;
    return cc_load64(page) == number && cc_load16(page + 10) == PAGE_META &&
           cc_load32(at) == META_MAGIC && cc_load32(at + 4) == META_VERSION && is_in_place &&
           cc_load32(at + 24) == HISTORY_PAGE_BYTES && meta->free.flags == HISTORY_TREE_INTEGERS &&
           meta->main.flags == 0;
}

bool history_page_is_leaf(const uint8_t *page)
{
    return (cc_load16(page + 10) & PAGE_LEAF) != 0;
}

uint32_t history_page_count(const uint8_t *page)
{
    return (cc_load16(page + 12) - HISTORY_PAGE_HEAD_BYTES) / 2u;
}

bool history_page_node(const uint8_t *page, uint32_t k, struct history_node *node)
{
    bool is_branch = (cc_load16(page + 10) & PAGE_BRANCH) != 0;
    uint32_t place = cc_load16(page + HISTORY_PAGE_HEAD_BYTES + 2 * k);
    uint32_t upper = cc_load16(page + 14);

    if (place < upper || place % 2 != 0 || place + NODE_BYTES > HISTORY_PAGE_BYTES)
        return false;
    const uint8_t *at = page + place;
    uint32_t low = cc_load16(at), high = cc_load16(at + 2);
    node->flags = cc_load16(at + 4);
    node->key_bytes = cc_load16(at + 6);
    node->key = at + NODE_BYTES;
    node->data = node->key + node->key_bytes;
    node->data_bytes = is_branch ? 0 : low | high << 16;
    node->child = low | (uint64_t)high << 16 | (uint64_t)node->flags << 32;
    bool is_big = !is_branch && (node->flags & HISTORY_NODE_BIG) != 0;
    uint64_t held = is_big ? sizeof(uint64_t) : node->data_bytes;
    return node->key_bytes <= HISTORY_KEY_MAX &&
           place + NODE_BYTES + node->key_bytes + held <= HISTORY_PAGE_BYTES;
}

bool history_page_is_sound(const uint8_t *page, uint64_t number)
{
    uint32_t flags = cc_load16(page + 10) & PAGE_FLAGS;
    uint32_t lower = cc_load16(page + 12), upper = cc_load16(page + 14), bytes = 0;
    struct history_node node;

    if (cc_load64(page) != number || (flags != PAGE_BRANCH && flags != PAGE_LEAF))
        return false;
    if (lower < HISTORY_PAGE_HEAD_BYTES || lower % 2 != 0 || lower > upper ||
        upper > HISTORY_PAGE_BYTES)
        return false;
    uint32_t count = history_page_count(page);
    for (uint32_t k = 0; k < count; k++) {
        if (!history_page_node(page, k, &node))
            return false;
        bool is_big = flags == PAGE_LEAF && (node.flags & HISTORY_NODE_BIG) != 0;
        uint32_t held = is_big ? (uint32_t)sizeof(uint64_t) : node.data_bytes;
        bytes += (NODE_BYTES + node.key_bytes + held + 1) & ~1u;
    }
    return count >= (flags == PAGE_BRANCH ? 2u : 1u) && bytes == HISTORY_PAGE_BYTES - upper;
}

/* Whether the key of node k is below the key, or `or_same`. */
static bool is_below(const uint8_t *page, uint32_t k, const uint8_t *key, size_t key_bytes,
                     bool or_same)
{
    struct history_node node;

    INVARIANT(history_page_node(page, k, &node));
    size_t common = node.key_bytes < key_bytes ? node.key_bytes : key_bytes;
    int order = memcmp(node.key, key, common);
    if (order == 0)
        order = (node.key_bytes > key_bytes) - (node.key_bytes < key_bytes);
    return order < 0 || (or_same && order == 0);
}

uint32_t history_page_find(const uint8_t *page, const uint8_t *key, size_t key_bytes)
{
    bool is_leaf = history_page_is_leaf(page);
    uint32_t low = is_leaf ? 0 : 1, high = history_page_count(page); /* a branch's first has none */

    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (is_below(page, middle, key, key_bytes, !is_leaf))
            low = middle + 1;
        else
            high = middle;
    }
    return is_leaf ? low : low - 1;
}

uint64_t history_page_overflows(uint64_t bytes)
{
    return (HISTORY_PAGE_HEAD_BYTES - 1 + bytes) / HISTORY_PAGE_BYTES + 1;
}

bool history_page_is_overflow(const uint8_t *page, uint64_t first, uint64_t count)
{
    return cc_load64(page) == first && cc_load16(page + 10) == PAGE_OVERFLOW &&
           cc_load32(page + 12) == count;
}

bool history_page_is_named(const struct history_node *node, const char *name)
{
    return node->key_bytes == strlen(name) && memcmp(node->key, name, node->key_bytes) == 0;
}
