/* era.h - the file `origin`: where the journal of a data directory took up one that was given up
 * (journal.md, Origin).
 *
 *   segments 0 .. a-1 ──┬── a .. b-1 ──┬── b ...
 *     first journal id  │  second      │  the one in `exchange`
 *                     row 0          row 1
 *
 * The chain of frames goes on across each of them: numbers, sequences and hashes; the journal id
 * alone changes. Rows are added before `exchange` names their journal, so a last row that it does
 * not name yet does not count.
 *
 * Blocking; any thread. */
#ifndef STORE_ERA_H
#define STORE_ERA_H

#include "base/hash.h"
#include "store/exchange_file.h"

enum { ERA_ROW_BYTES = 192, ERA_REASON_BYTES = 64 };

/* One row: the end that was accepted, and the journal that goes on after it. */
struct era_row {
    uint64_t frame, sequence; /* of that end */
    uint64_t next_segment;    /* the first of the new journal */
    uint64_t wall_ns;         /* when it was accepted */
    uint8_t frame_hash[HASH_BYTES];
    uint8_t former_id[EXCHANGE_FILE_JOURNAL_ID_BYTES];
    uint8_t journal_id[EXCHANGE_FILE_JOURNAL_ID_BYTES];
    char reason[ERA_REASON_BYTES]; /* printable ASCII, zeros after it */
};

/* Reads the file into exchange->eras: the rows up to the one that begins exchange->journal_id.
 * *last (may be NULL) is that row. Returns 0, also without the file; -EBADMSG if it is damaged or
 * does not lead to that journal; or -errno. Then exchange has no eras. */
CC_MUST_USE int era_read(struct disk *disk, struct exchange_file *exchange, struct era_row *last);

/* Adds a row after those that count, durable when it returns 0. It counts once `exchange` has its
 * journal_id. Returns 0, -EFBIG if there are EXCHANGE_FILE_ERAS_MAX already, or -errno; on failure
 * the rows that count are as before. */
CC_MUST_USE int era_add(struct disk *disk, const struct exchange_file *exchange,
                        const struct era_row *row);

#endif
