/* repl_key.h - the keys of a cluster in etcd: perp/<cluster>/..., numbers in 16 hexadecimal digits
 * (replication.md, Keys). Pure; any thread. */
#ifndef REPL_REPL_KEY_H
#define REPL_REPL_KEY_H

#include "repl/etcd.h"

/* The tags of requests: the unit in the top byte. */
enum repl_unit {
    REPL_LEAD = 1,
    REPL_ELECT,
    REPL_TAIL,
    REPL_START,
    REPL_RETAIN,
    REPL_VAULT,
    REPL_VOTE,
    REPL_UPGRADE
};

static inline uint64_t repl_tag(enum repl_unit unit, uint64_t number)
{
    return (uint64_t)unit << 56 | number;
}

static inline enum repl_unit repl_unit_of(uint64_t tag)
{
    return (enum repl_unit)(tag >> 56);
}

struct repl_key {
    char text[ETCD_KEY_BYTES];
};

/* perp/<cluster>/<name>. */
struct repl_key repl_key_of(const char *cluster, const char *name);

/* perp/<cluster>/log/<frame>, and a key above all of them. */
struct repl_key repl_key_frame(const char *cluster, uint64_t number);
struct repl_key repl_key_log_end(const char *cluster);

/* perp/<cluster>/segment/<segment>, and a key above all of them. */
struct repl_key repl_key_segment(const char *cluster, uint64_t segment);
struct repl_key repl_key_segment_end(const char *cluster);

/* perp/<cluster>/snapshot/<sequence>, and a key above all of them. */
struct repl_key repl_key_snapshot(const char *cluster, uint64_t sequence);
struct repl_key repl_key_snapshot_end(const char *cluster);

/* The read of a page of keys. The request points into the struct, which stays where it is until
 * etcd_submit has returned. */
struct repl_key_page {
    struct repl_key from, end;
    struct etcd_request request;
};

/* Fills *page: the log's rows from this frame on, or the segments' from this one on, in ascending
 * order, at most `limit`. */
void repl_key_page_log(struct repl_key_page *page, const char *cluster, uint64_t frame,
                       uint32_t limit);
void repl_key_page_segments(struct repl_key_page *page, const char *cluster, uint64_t segment,
                            uint32_t limit);

/* Reads the number of a key of log/; 0: it is none. */
CC_MUST_USE uint64_t repl_key_number(const char *cluster, struct etcd_bytes key);

#endif
