/* journal_state.h - the parts of a journal, for journal.c and journal_cluster.c only.
 *
 * A frame is released once its records may be shown. Without a cluster the disk alone decides; in
 * one, etcd does, or both (journal.h).
 *
 * Owner. As journal.h: what has no atomic is the journal thread's. */
#ifndef STORE_JOURNAL_STATE_H
#define STORE_JOURNAL_STATE_H

#include "store/journal.h"
#include "store/record_buffer.h"

#define LOAD(place, order)         atomic_load_explicit(&(place), memory_order_##order)
#define STORE(place, value, order) atomic_store_explicit(&(place), value, memory_order_##order)

/* A frame in flight, or several that a standby adopted and writes at once. */
struct flight {
    uint8_t *bytes;             /* frame_bytes_max, aligned for direct writes */
    struct frame_header header; /* of the last one */
    struct frame_tail tail;     /* the last one itself */
    uint64_t end_position;      /* in the buffer, after its last record */
    uint64_t offset;            /* in the file */
    uint32_t length;            /* of all */
    int file;
    bool closes_file; /* it has the last frame of its segment */
    bool is_waiting;  /* adopted, and not handed to the disk yet */
    bool done;        /* reaped */
};

/* Counters are written by the journal thread (`full`: by the matcher's) and read by any. */
struct counters {
    _Atomic uint64_t frames;
    _Atomic uint64_t records;
    _Atomic uint64_t record_bytes;
    _Atomic uint64_t written_bytes;
    _Atomic uint64_t segments;
    _Atomic uint64_t starved;
    _Atomic uint32_t in_flight;
};

struct journal {
    struct journal_config config;
    struct record_buffer buffer;
    uint32_t frame_bytes_max;

    /* The matcher's. `claimed` announces what the coming words overwrite: see journal_copy. */
    CC_NO_SHARE _Atomic uint64_t tail;
    _Atomic uint64_t claimed;
    _Atomic uint64_t full;
    uint64_t gathered_seen;
    uint32_t reserved_bytes;
    _Atomic bool stopping;
    _Atomic bool seal_wanted; /* by any thread: the next frame begins a segment */
    alignas(8) uint8_t scratch[RECORD_BYTES_MAX];

    /* The journal thread's, read by others. */
    CC_NO_SHARE _Atomic uint64_t gathered;
    _Atomic uint64_t durable_position;
    _Atomic uint64_t durable_seq;
    _Atomic uint64_t written_seq;
    _Atomic uint64_t written_segment; /* of the last frame that is in its file */
    _Atomic int error;
    _Atomic bool stopped;
    struct counters counters;

    /* The journal thread's alone. */
    CC_NO_SHARE struct frame_tail tail_frame; /* the last frame submitted */
    struct frame_tail durable;                /* the last durable frame; `none`: the start's */
    uint64_t durable_segment;                 /* where it is */
    struct witness_writer witness;
    uint64_t segment;      /* the current one */
    uint64_t offset;       /* of the next frame in it */
    uint32_t block_bytes;  /* frames are multiples of it */
    uint32_t block_min;    /* whatever the segment says */
    int file;              /* of the current segment; -1: not yet taken */
    bool closing;          /* the closing frame was submitted */
    bool closed;           /* and written */
    uint32_t flight_first; /* the oldest of flights[] */
    uint32_t flight_count;
    uint32_t slot_count; /* of flights[] in use: a power of two */
    struct flight flights[JOURNAL_SLOTS_MAX];

    /* Of a cluster (journal_cluster.c). */
    bool leads;        /* it forms frames; false: it adopts them. Always true without one */
    uint32_t released; /* flights from flight_first on whose records may be shown */
    uint64_t released_frame;
    uint64_t replicated; /* last frame that counts */
    uint64_t lent;       /* last frame that journal_next_frame gave */
};

static inline bool journal_is_clustered(const struct journal *journal)
{
    return journal->config.durability >= JOURNAL_REPLICATED;
}

/* The flight that is `at` slots after the oldest. */
static inline struct flight *flight_at(struct journal *journal, uint32_t at)
{
    return &journal->flights[(journal->flight_first + at) & (journal->slot_count - 1)];
}

/* Ends the journal with the error, which it gives. */
static inline int journal_fault(struct journal *journal, int error)
{
    INVARIANT(error < 0);
    STORE(journal->error, error, release);
    return error;
}

/* Goes to the next segment when a frame of so many record bytes does not fit, or when none was
 * taken yet. 1: there is room; 0: the pool has no segment ready; -errno. */
CC_MUST_USE int journal_provide_segment(struct journal *journal, uint32_t record_bytes);

/* Makes the sealed frame at `bytes` the chain's last one, and the flight's. `end_position`: in the
 * buffer, after its last record. */
void journal_chain(struct journal *journal, struct flight *flight,
                   const struct frame_header *header, const uint8_t *bytes, uint64_t end_position);

/* Hands a flight to the disk. 0 or -errno. */
CC_MUST_USE int journal_write(struct journal *journal, const struct flight *flight);

/* Lets the records of a flight be shown. */
void journal_release(struct journal *journal, const struct flight *flight);

/* Frames in flight as the group rule counts them: to the disk, or in a cluster the unreleased. */
static inline uint32_t journal_in_flight(const struct journal *journal)
{
    return journal->flight_count - journal->released; /* without a cluster none is released here */
}

/* Makes a new journal a standby's. Returns the bytes that each flight needs. */
CC_MUST_USE uint32_t journal_cluster_join(struct journal *journal);

/* Whether a flight and a write of the disk are free. */
CC_MUST_USE bool journal_cluster_has_slot(struct journal *journal);

/* Releases the frames that count, and are durable here if the mode asks for it. The number. */
int journal_cluster_release(struct journal *journal);

/* Hands what was adopted to the disk, as far as that may be. The number of writes, or -errno. */
CC_MUST_USE int journal_cluster_write(struct journal *journal);

#endif
