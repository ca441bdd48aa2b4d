/* store_run.h - one life of the store on a given disk: open, recover, write, and what was promised.
 *
 * The model beside it knows for each sequence the word that was published last under it, and the
 * last sequence that was acknowledged: whatever recovery hands over must be a prefix of the one
 * that reaches at least the other. */
#ifndef TESTS_STORE_STORE_RUN_H
#define TESTS_STORE_STORE_RUN_H

#include "store/exchange_file.h"
#include "store/journal.h"
#include "store/recovery.h"
#include "store/segment_pool.h"

enum { STORE_RUN_SEQUENCES_MAX = 1 << 16 };

/* What the outside world knows; it survives the lives. */
struct store_model {
    uint64_t words[STORE_RUN_SEQUENCES_MAX + 1]; /* published under each sequence */
    uint64_t published;
    uint64_t acknowledged;
    uint64_t random;
    bool is_dense; /* payloads do not get shorter when compressed */
};

struct store_options {
    enum journal_durability durability;
    uint32_t segment_bytes;
    uint32_t frames_in_flight;
    uint32_t group_bytes;
    uint32_t frame_bytes_max;
    uint64_t buffer_bytes;
    const struct clock *clock; /* for the witness; NULL: none is due by time */
};

struct store_run {
    struct disk *disk;
    struct store_model *model;
    struct store_options options;
    struct exchange_file exchange;
    struct recovery_result recovered;
    struct refusal refusal;
    struct segment_pool *pool;
    struct journal *journal;
    uint64_t now_ns;  /* of the pool: 100 ms a step */
    uint64_t applied; /* records that recovery handed over */
    bool wrong;       /* one of them was not what was published */
};

/* LOCAL, segments of 32 KiB, 4 in flight, each record its own frame. */
struct store_options store_run_options(void);

/* Opens, recovers and checks against the model: REFUSAL_none, or what refused. After REFUSAL_none
 * the pool is filled and the journal runs. On anything else nothing is left to end. */
enum refusal_kind store_run_begin(struct store_run *run, struct disk *disk,
                                  struct store_model *model, const struct store_options *options);

/* Publishes a record of `payload_bytes` with a random word in front; false: the buffer is full. */
bool store_run_publish(struct store_run *run, uint32_t payload_bytes);

/* One turn of journal and pool; notes what was acknowledged. The journal's result. */
int store_run_step(struct store_run *run);

/* Steps until everything published is durable, or the journal failed, or `turns` are over. */
int store_run_settle(struct store_run *run, int turns);

/* A clean stop; 0 once the closing frame is durable, else the fault. */
int store_run_stop(struct store_run *run);

/* Gives journal and pool back: after a stop, or after the disk's crash. */
void store_run_end(struct store_run *run);

#endif
