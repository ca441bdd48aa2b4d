/* history_trees.h - the trees of the history's file as the last commit left them: what a commit has
 * written is learned after it, and what a write will read is compared before it.
 *
 *   commit ──follow: its new pages──> sums, roots ──> cursors
 *   write  <──begin, touch: pages as they were written, or -EBADMSG── sums
 *
 * LMDB trusts what is in its pages, and a page that it copies takes its damage along. So nothing is
 * handed to it that was not compared in the same write.
 *
 * Order.  A commit never writes into a page of the trees of the commit before it: a page below one
 *         that was there is as it was.
 * Owner.  The thread that commits. history_trees_roots: any thread.
 * Wait.   Blocks as files do.
 * Errors. 0 or -errno; -EBADMSG: the file is not as it was written. Nothing is logged. */
#ifndef STORE_HISTORY_TREES_H
#define STORE_HISTORY_TREES_H

#include "store/history_path.h"

/* Of the tables in one commit. */
struct history_roots {
    uint64_t transaction;
    uint64_t page[HISTORY_TABLES]; /* HISTORY_ROOT_NONE: no entry */
    uint64_t depth[HISTORY_TABLES];
};

enum { HISTORY_ROOTS_WORDS = sizeof(struct history_roots) / sizeof(uint64_t) };

struct history_trees {
    struct history_sums *sums;
    struct history_meta meta;
    struct history_roots roots;
    struct history_tree head; /* the table `head` */
    struct history_cache cache;
    uint64_t *compared;       /* a bit for each page: it was, in this write */
    uint64_t transaction;     /* of the newest commit, or one that is being followed */
    _Atomic uint64_t version; /* odd while the words are written */
    _Atomic uint64_t words[HISTORY_ROOTS_WORDS];
};

/* Knows no tree yet: the first commit is followed in full, but for what the sums have. */
CC_MUST_USE int history_trees_init(struct history_trees *trees, struct history_sums *sums);
void history_trees_free(struct history_trees *trees);

/* Learns what the commit with this number has written, and publishes the roots. After a failure
 * it may be called again with the same number, before another write. */
CC_MUST_USE int history_trees_follow(struct history_trees *trees, uint64_t transaction);

/* Before a write: compares what each write reads. */
CC_MUST_USE int history_trees_begin(struct history_trees *trees);

/* Before a write of this key: compares the pages on the way to it. */
CC_MUST_USE int history_trees_touch(struct history_trees *trees, enum history_table table,
                                    const uint8_t *key, size_t key_bytes);

/* Before this key's entry is removed or the one after it is read: also those beside them. */
CC_MUST_USE int history_trees_touch_wide(struct history_trees *trees, enum history_table table,
                                         const uint8_t *key, size_t key_bytes);

/* Before a write that reads every row: compares all pages. */
CC_MUST_USE int history_trees_touch_all(struct history_trees *trees);

/* The roots of the newest commit that was followed. Returns the version, which is another after the
 * next one. */
uint64_t history_trees_roots(const struct history_trees *trees, struct history_roots *roots);

/* Whether that commit is still the newest. */
CC_MUST_USE bool history_trees_is_newest(const struct history_trees *trees, uint64_t version);

#endif
