/* snapshot.h - one snapshot as a file: a header of 256 bytes, a table of sections, the canonical
 * image (journal.md, Snapshot).
 *
 *   snapshot_begin ─ snapshot_section, snapshot_bytes ... ─ snapshot_end      SEQUENCE.snap.part
 *     header, table, sync, rename, sync of the folder                         SEQUENCE.snap
 *   snapshot_read ─ CRCs, ids, image hash ─ sections in memory ─ snapshot_close
 *
 *   0         256          256 + 32 * sections       4096
 *   | header  | sections   | zeros                   | first section | second | ...
 *
 * The store knows sections as bytes only. A `.part` never counts.
 * Order.  The frames that a snapshot covers are on the medium before it has its name, also with
 *         durability `none`: snapshot_end syncs the journal's segments up to its frame.
 * Wait.   Blocking. A writer may be the snapshotter's child, a stopped node or a test.
 * Bound.  Writing: one buffer of 1 MiB. Reading: the whole image in memory. */
#ifndef STORE_SNAPSHOT_H
#define STORE_SNAPSHOT_H

#include "base/hash.h"
#include "store/disk.h"
#include "store/exchange_file.h"
#include "store/refusal.h"

enum {
    SNAPSHOT_VERSION = 1,
    SNAPSHOT_HEADER_BYTES = 256,
    SNAPSHOT_SECTION_BYTES = 32, /* of a row of the table */
    SNAPSHOT_SECTIONS_MAX = 64,
    SNAPSHOT_IMAGE_OFFSET = 4096, /* the sections lie from here on, one after the other */
    SNAPSHOT_KEPT = 2
};

/* What the header says beside ids and keys. */
struct snapshot_head {
    uint64_t sequence; /* the last one applied */
    uint64_t frame;    /* that holds it; a snapshot covers whole frames */
    uint64_t t_ns;
    uint64_t boot;
    uint32_t rules_version;
    uint32_t section_count;
    uint64_t image_bytes;
    uint8_t effects_hash[HASH_BYTES];
    uint8_t image_hash[HASH_BYTES]; /* of the sections' bytes in order */
    uint8_t frame_hash[HASH_BYTES]; /* the chain goes on after it */
};

struct snapshot_section {
    uint32_t code;
    uint32_t version;
    const uint8_t *bytes;
    uint64_t byte_count;
};

/* ---- writing --------------------------------------------------------------------------------- */

struct snapshot_writer;

/* Begins snapshot/SEQUENCE.snap.part, emptied if it exists. Returns NULL without memory;
 * snapshot_end returns errors of the disk. */
CC_MUST_USE struct snapshot_writer *
snapshot_begin(struct disk *disk, const struct exchange_file *exchange, uint64_t sequence);

/* A section begins; its bytes follow. Codes ascend. */
void snapshot_section_begin(struct snapshot_writer *writer, uint32_t code, uint32_t version);
void snapshot_bytes(struct snapshot_writer *writer, const void *bytes, size_t count);

/* Syncs the file when a buffer of it was written since the last time, so that snapshot_end does not
 * wait for the whole. */
void snapshot_settle(struct snapshot_writer *writer);

/* Removes the file and frees the writer, in place of snapshot_end. */
void snapshot_abandon(struct snapshot_writer *writer);

/* Ends the file: fills head->section_count, image_bytes and image_hash, writes header and table,
 * syncs the journal up to head->frame and the file, and renames it. Always frees the writer.
 * Returns 0, or -errno; then no snapshot was promised, and a file of that name, if there is one, is
 * whole (this one or an earlier one). */
CC_MUST_USE int snapshot_end(struct snapshot_writer *writer, struct snapshot_head *head);

/* ---- reading --------------------------------------------------------------------------------- */

struct snapshot {
    struct snapshot_head head;
    struct snapshot_section sections[SNAPSHOT_SECTIONS_MAX]; /* section_count of them */
    uint8_t *memory;
};

/* Reads snapshot/SEQUENCE.snap and verifies it: magic, version, header CRC, ids, bounds, each
 * section's CRC, image hash. Returns 0; -EBADMSG if it is not whole (try an older one); -EXDEV if
 * it is another exchange's (the directory is mixed and must not be used); or -errno. `why` (may be
 * NULL) gets the kind and a sentence. On failure there is nothing to close. */
CC_MUST_USE int snapshot_read(struct disk *disk, const struct exchange_file *exchange,
                              uint64_t sequence, struct snapshot *out, struct refusal *why);
void snapshot_close(struct snapshot *snapshot);

/* Reads and checks the header alone (CRC, ids). Returns as snapshot_read. */
CC_MUST_USE int snapshot_read_head(struct disk *disk, const struct exchange_file *exchange,
                                   uint64_t sequence, struct snapshot_head *out,
                                   struct refusal *why);

/* ---- the folder ------------------------------------------------------------------------------ */

/* Lists the sequences of the newest `sequences_max` snapshot files, newest first. Returns their
 * number or -errno. Does not check whether they are whole. */
CC_MUST_USE int snapshot_list(struct disk *disk, uint64_t *sequences, int sequences_max);

/* Remove a snapshot, or the unfinished one of that sequence. Return 0 or -errno. */
CC_MUST_USE int snapshot_remove(struct disk *disk, uint64_t sequence);
CC_MUST_USE int snapshot_remove_part(struct disk *disk, uint64_t sequence);

/* Removes every unfinished snapshot of a writer that died. Returns 0 or -errno. */
CC_MUST_USE int snapshot_remove_parts(struct disk *disk);

#endif
