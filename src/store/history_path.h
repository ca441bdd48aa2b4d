/* history_path.h - the way from the root of a tree of the history's file to one of its entries.
 *
 * Owner.  The cache's.
 * Errors. Those of history_cache_get; -EBADMSG also for pages that are no tree. */
#ifndef STORE_HISTORY_PATH_H
#define STORE_HISTORY_PATH_H

#include "store/history_cache.h"

struct history_path {
    struct history_cache *cache;
    uint32_t depth;                      /* pages; 0: the tree has no entry */
    uint64_t pages[HISTORY_DEPTH_MAX];   /* numbers, of the root first */
    uint32_t indexes[HISTORY_DEPTH_MAX]; /* of the next page in each, at last of the entry */
};

/* Leads to the first entry whose key is not below the key, perhaps behind the last of a page. */
CC_MUST_USE int history_path_find(struct history_path *path, uint64_t root, uint64_t depth,
                                  const uint8_t *key, size_t key_bytes);

/* The entry: 1 and *node, valid until the cache's next page; or 0, there is none so far up. Goes on
 * to the next page if the path is behind the last entry of one. */
CC_MUST_USE int history_path_entry(struct history_path *path, struct history_node *node);

/* Leads to the entry before: 1, or 0, there is none. */
CC_MUST_USE int history_path_back(struct history_path *path);

#endif
