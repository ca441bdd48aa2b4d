#include "store/history_path.h"

#include <errno.h>

/* The page at a level, which is a leaf at the last level and a branch above. */
static int page_at(const struct history_path *path, uint32_t level, const uint8_t **page)
{
    int failed = history_cache_get(path->cache, path->pages[level], page);

    if (failed != 0)
        return failed;
    return history_page_is_leaf(*page) == (level == path->depth - 1) ? 0 : -EBADMSG;
}

/* Names the page below `level` that its index leads to. */
static int descend(struct history_path *path, uint32_t level, const uint8_t *page)
{
    struct history_node node;

    if (path->indexes[level] >= history_page_count(page) ||
        !history_page_node(page, path->indexes[level], &node))
        return -EBADMSG;
    path->pages[level + 1] = node.child;
    return 0;
}

int history_path_find(struct history_path *path, uint64_t root, uint64_t depth, const uint8_t *key,
                      size_t key_bytes)
{
    const uint8_t *page;

    path->depth = root == HISTORY_ROOT_NONE ? 0 : (uint32_t)depth;
    if (depth > HISTORY_DEPTH_MAX)
        return -EBADMSG;
    path->pages[0] = root;
    for (uint32_t level = 0; level < path->depth; level++) {
        int failed = page_at(path, level, &page);
        if (failed != 0)
            return failed;
        path->indexes[level] = history_page_find(page, key, key_bytes);
        failed = level + 1 < path->depth ? descend(path, level, page) : 0;
        if (failed != 0)
            return failed;
    }
    return 0;
}

/* Leads to one end of the page after or before: 1, or 0, there is none. */
static int turn(struct history_path *path, bool is_back)
{
    const uint8_t *page;
    uint32_t level = path->depth - 1;
    bool is_end = true;

    while (is_end) {
        if (level == 0)
            return 0;
        level--;
        int failed = page_at(path, level, &page);
        if (failed != 0)
            return failed;
        uint32_t index = path->indexes[level];
        is_end = is_back ? index == 0 : index + 1 >= history_page_count(page);
    }
    path->indexes[level] += is_back ? UINT32_MAX : 1;
    for (;; level++) {
        int failed = descend(path, level, page);
        if (failed == 0)
            failed = page_at(path, level + 1, &page);
        if (failed != 0)
            return failed;
        path->indexes[level + 1] = is_back ? history_page_count(page) - 1 : 0;
        if (level + 2 == path->depth)
            return 1;
    }
}

int history_path_entry(struct history_path *path, struct history_node *node)
{
    const uint8_t *page;

    if (path->depth == 0)
        return 0;
    uint32_t *index = &path->indexes[path->depth - 1];
    int failed = page_at(path, path->depth - 1, &page);
    if (failed == 0 && *index >= history_page_count(page)) {
        int there = turn(path, false);
        if (there <= 0)
            return there;
        failed = page_at(path, path->depth - 1, &page);
    }
    if (failed != 0)
        return failed;
    return history_page_node(page, *index, node) ? 1 : -EBADMSG;
}

int history_path_back(struct history_path *path)
{
    if (path->depth == 0)
        return 0;
    uint32_t *index = &path->indexes[path->depth - 1];
    if (*index == 0)
        return turn(path, true);
    --*index;
    return 1;
}
