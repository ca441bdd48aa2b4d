/* hash_vote.h - what the engines of a node show of their state at each sequence before a 2015, and
 * whether the node that leads a cluster may author that record (replication.md, Hash vote).
 *
 *   leader's matcher ──primary──> journal's thread: other nodes ──agreed──> matcher: 2015
 *   follower ────────replica────> journal's thread: this node's key in etcd
 *
 * Owner. Each board has one writer, named at it; `agreed` is the journal's thread's. Any thread
 *        reads. */
#ifndef BASE_HASH_VOTE_H
#define BASE_HASH_VOTE_H

#include "base/compiler.h"

enum { HASH_POINT_BYTES = 40, HASH_POINT_WORDS = HASH_POINT_BYTES / 8 };

/* The hash of effects_hash (journal.md) when `sequence` was the last one. */
struct hash_point {
    uint64_t sequence;
    uint8_t hash[32];
};
static_assert(sizeof(struct hash_point) == HASH_POINT_BYTES, "whole words");

struct hash_board {
    _Atomic uint64_t version; /* odd while it is written; 0: nothing was */
    _Atomic uint64_t words[HASH_POINT_WORDS];
};

struct hash_vote {
    CC_NO_SHARE struct hash_board primary; /* the matcher: it waits with the 2015 of this point */
    CC_NO_SHARE struct hash_board replica; /* the follower */
    CC_NO_SHARE _Atomic uint64_t agreed;   /* the 2015 of this sequence may be authored */
};

static inline void hash_board_set(struct hash_board *board, const struct hash_point *point)
{
    uint64_t version = atomic_load_explicit(&board->version, memory_order_relaxed);

    atomic_store_explicit(&board->version, version + 1, memory_order_relaxed);
    /* Release: a reader that sees a word sees the odd version too (pairs: hash_board_get). */
    for (size_t i = 0; i < HASH_POINT_WORDS; i++)
        atomic_store_explicit(&board->words[i], cc_load64((const uint8_t *)point + 8 * i),
                              memory_order_release);
    /* Release: every word before the even version (pairs: hash_board_get). */
    atomic_store_explicit(&board->version, version + 2, memory_order_release);
}

/* False: there is no point yet, or it is being written now. */
CC_MUST_USE static inline bool hash_board_get(const struct hash_board *board,
                                              struct hash_point *point)
{
    uint64_t before = atomic_load_explicit(&board->version, memory_order_acquire);

    /* Acquire: the words before the second look at the version (pairs: hash_board_set). */
    for (size_t i = 0; i < HASH_POINT_WORDS; i++)
        cc_store64((uint8_t *)point + 8 * i,
                   atomic_load_explicit(&board->words[i], memory_order_acquire));
    return before != 0 && before % 2 == 0 &&
           before == atomic_load_explicit(&board->version, memory_order_relaxed);
}

#endif
