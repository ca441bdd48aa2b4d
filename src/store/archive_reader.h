/* archive_reader.h - finds single records of archived segments, a piece at a time, for receipts of
 * requests whose segment has left the journal (journal.md, Receipts).
 *
 *   sequence ── first frames of some files ──> the file ── unpacked piece by piece ──> its frame
 *
 * A file that is missing, or wrong where it is read, is read in the archive's second place
 * (disk->archive_copy) if there is one; each file for itself.
 *
 * One search is under way at a time. Who asks for another sequence meanwhile moves it on too, and
 * has its own turn when the one before has been taken: who began a search must ask until it ends.
 *
 * Wait.  Blocking; a step reads at most ARCHIVE_READER_FILE_BYTES and unpacks at most
 *        ARCHIVE_READER_STEP_BYTES.
 * Owner. One thread.
 * Bound. Memory: one frame, a piece of the file, and zstd's own (8 MiB at most). */
#ifndef STORE_ARCHIVE_READER_H
#define STORE_ARCHIVE_READER_H

#include "store/frame_reader.h"

enum {
    ARCHIVE_READER_FILE_BYTES = 132 * 1024, /* more than a block of zstd */
    ARCHIVE_READER_STEP_BYTES = FRAME_BYTES_MAX,
};

struct archive_unpacker;

struct archive_reader {
    struct disk *disk;
    const struct exchange_file *exchange;
    struct archive_unpacker *unpacker; /* NULL: before archive_reader_init */
    uint64_t wanted;                   /* the sequence of the search under way; 0: there is none */
    int result;                        /* 0: it goes on; else what it ended with */
    bool is_found;                     /* the file is known: it is `low` */
    bool is_near;                      /* it is tried first where the search before ended */
    bool is_looking;                   /* the open file's first frame is being read, to narrow */
    bool has_turned;                   /* the open file is that of the other place */
    uint64_t low, high;                /* it is one of [low, high), if any */
};

/* 0 or -ENOMEM. The reader must be all zeros before; the exchange outlives it. */
CC_MUST_USE int archive_reader_init(struct archive_reader *reader, struct disk *disk,
                                    const struct exchange_file *exchange);
void archive_reader_free(struct archive_reader *reader);

/* Looks for the record of a sequence. Returns 1 with *found filled, its record in the reader's
 * memory until the next call; 0: ask again; -ENOENT: the archive does not have it; -EBADMSG: a file
 * is damaged, in both places; or another -errno. */
CC_MUST_USE int archive_reader_record(struct archive_reader *reader, uint64_t sequence,
                                      struct frame_record *found);

/* The asker wants the sequence no more. */
void archive_reader_drop(struct archive_reader *reader, uint64_t sequence);

#endif
