/* exchange_file.h - the file `exchange`: identity, keys and boot number of a data directory.
 *
 * Read and written at start by the main thread, blocking. Layout in journal.md, Data directory.
 * Four slots; the newest whole one counts (slot_file.h), so a crash leaves the old or the new one.
 * The former format, one block of 256 bytes, is read, and the next write replaces it. */
#ifndef STORE_EXCHANGE_FILE_H
#define STORE_EXCHANGE_FILE_H

#include "store/disk.h"
#include "store/refusal.h"
#include "store/slot_file.h"

enum {
    EXCHANGE_FILE_VERSION = 2,
    EXCHANGE_FILE_FORMER_VERSION = 1,
    EXCHANGE_FILE_FORMER_BYTES = 256,
    EXCHANGE_FILE_JOURNAL_ID_BYTES = 16,
    EXCHANGE_FILE_ID_BYTES = 32,
    EXCHANGE_FILE_HASH_KEY_BYTES = 16,
    EXCHANGE_FILE_SECRET_KEY_BYTES = 32,
    EXCHANGE_FILE_PUBLIC_KEY_BYTES = 32,
    EXCHANGE_FILE_ERAS_MAX = 32 /* ends that may be given up; another one is refused */
};

/* A journal of before an end that was given up (era.h). */
struct exchange_era {
    uint8_t journal_id[EXCHANGE_FILE_JOURNAL_ID_BYTES];
    uint64_t end_segment; /* the first segment that is not its own */
    uint64_t frame;       /* its last one that counts */
    uint64_t sequence;    /* the last one up to that frame */
};

struct exchange_file {
    uint8_t journal_id[EXCHANGE_FILE_JOURNAL_ID_BYTES];
    uint8_t exchange_id[EXCHANGE_FILE_ID_BYTES]; /* the option exchange.id; EIP-712 salt */
    uint8_t hash_key[EXCHANGE_FILE_HASH_KEY_BYTES];
    uint8_t secret_key[EXCHANGE_FILE_SECRET_KEY_BYTES];
    uint64_t boot;  /* of the last start; 0 before the first */
    uint64_t epoch; /* raised when an end of the journal is given up; 1 at first */
    uint8_t signing_public[EXCHANGE_FILE_PUBLIC_KEY_BYTES]; /* of signing.key; 0: none yet */
    struct slot_location slots; /* of the file, as it was read or written last */
    bool is_former;             /* the file has the former format, or is not there yet */
    struct exchange_era eras[EXCHANGE_FILE_ERAS_MAX]; /* oldest first; from the file `origin` */
    uint32_t era_count;
};

/* Reads one whole slot. Returns 0, or -EBADMSG if magic, version, size, CRC or a byte that must be
 * zero is wrong. */
CC_MUST_USE int exchange_file_decode(struct exchange_file *out, const uint8_t bytes[SLOT_BYTES]);

/* Reads the file, of either format, and the file `origin`. Returns 0, -EBADMSG when one of them is
 * damaged or they do not fit, -ENOENT or -errno; `out` holds nothing then. */
CC_MUST_USE int exchange_file_read(struct disk *disk, struct exchange_file *out);

/* True if these ids are the exchange's, and its journal is `own`: a file that has others belongs to
 * another directory. */
CC_MUST_USE bool exchange_file_is(const struct exchange_file *exchange,
                                  const uint8_t own[EXCHANGE_FILE_JOURNAL_ID_BYTES],
                                  const uint8_t journal_id[EXCHANGE_FILE_JOURNAL_ID_BYTES],
                                  const uint8_t exchange_id[EXCHANGE_FILE_ID_BYTES],
                                  const uint8_t hash_key[EXCHANGE_FILE_HASH_KEY_BYTES]);

/* The id of the journal that a segment, or a frame, belongs to: of every file of that segment, and
 * of a head or a snapshot of that frame. */
CC_MUST_USE const uint8_t *exchange_file_journal(const struct exchange_file *exchange,
                                                 uint64_t segment);
CC_MUST_USE const uint8_t *exchange_file_journal_of(const struct exchange_file *exchange,
                                                    uint64_t frame);

/* The first segment of the journal in `exchange`; those before it are of former ones. */
CC_MUST_USE static inline uint64_t exchange_file_first_segment(const struct exchange_file *exchange)
{
    return exchange->era_count == 0 ? 0 : exchange->eras[exchange->era_count - 1].end_segment;
}

/* The first sequence of the journal in `exchange`. */
CC_MUST_USE static inline uint64_t
exchange_file_first_sequence(const struct exchange_file *exchange)
{
    return exchange->era_count == 0 ? 1 : exchange->eras[exchange->era_count - 1].sequence + 1;
}

/* Opens the directory for this process: makes the folders, locks the directory, and reads
 * `exchange` or, in a new directory, makes it (boot 0, keys from disk_random). A directory is new
 * when it has no `exchange` and its folders hold no finished file (`.next` and `.part` do not
 * count). `wanted_id` is the option exchange.id, NULL if not set; it becomes the id of a new
 * directory and must equal the id of an old one. `*is_new` says whether `exchange` was made here.
 * On refusal `out` is undefined, and only folders and an empty `lock` were written. */
CC_MUST_USE enum refusal_kind exchange_file_open(struct disk *disk, const uint8_t *wanted_id,
                                                 struct exchange_file *out, bool *is_new,
                                                 struct refusal *refusal);

/* Writes `exchange`, durable when it returns 0; damaged slots are mended with it, and the former
 * format is replaced. On -errno the old or the new one is there. */
CC_MUST_USE int exchange_file_write(struct disk *disk, struct exchange_file *exchange);

#endif
