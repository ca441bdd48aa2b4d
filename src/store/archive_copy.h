/* archive_copy.h - the second place of the archive: another folder, on another disk of the machine
 * or elsewhere, with the same files and the same list (journal.md, Second place of the archive).
 *
 *   archive/N.seg.zst, listed ── archive_copy_step ──> COPY/archive/N.seg.zst, listed there
 *        └── found wrong <── archive_copy_bring, both ways ── found wrong there
 *
 * A file is taken from one folder for the other only if it has the hash that the list names, and
 * gets its name there after it was synced, read back and found equal.
 *
 * Wait.   Blocking; for one file.
 * Owner.  Lengthen: a start. Mend: a start, then the scrub thread. Step and prune: the background
 *         thread. Bring: any thread with a suffix of its own for what it writes.
 * Bound.  Memory: one packed segment. */
#ifndef STORE_ARCHIVE_COPY_H
#define STORE_ARCHIVE_COPY_H

#include "base/published.h"
#include "store/archive.h"

struct archive_copy {
    struct disk *data;
    struct disk *disk; /* of the copy; NULL: there is none */
    const struct exchange_file *exchange;
    struct archive list;       /* of the copy; it may begin below the archive's */
    bool is_known;             /* `list` is */
    struct published segments; /* that it has */
    struct published fails;    /* 1: the last attempt to write to it failed */
};

/* The copy of a list's file: read from one folder, checked against the row, written to the other
 * under its name and `suffix`, read back and renamed. 0; -EBADMSG when it is not what the row says;
 * or -errno. On failure the file that was there stays. */
CC_MUST_USE int archive_copy_bring(struct disk *from, struct disk *to,
                                   const struct archive_row *row, const char *suffix);

/* What archive/ lacks or has of another size is taken from the copy, without a list of its own also
 * what has another hash. What cannot be taken, archive_mend refuses. *brought is the number of
 * files. Refused when the copy is another exchange's. */
CC_MUST_USE enum refusal_kind archive_copy_mend(const struct archive_copy *copy, uint64_t *brought,
                                                struct refusal *refusal);

/* At a start: what the copy's list has below archive/'s, which was made again without its oldest
 * files, is taken and listed there again. Returns the number of segments. */
uint64_t archive_copy_lengthen(const struct archive_copy *copy);

/* Writes to the copy what it lacks of the list, one segment. Returns the work done, 0: it has all;
 * or -errno. A list that lost its beginning takes nothing away from the copy. */
CC_MUST_USE int archive_copy_step(struct archive_copy *copy, const struct archive *archive);

/* archive_prune in the copy, by its own list; does nothing before the first step. */
CC_MUST_USE int archive_copy_prune(struct archive_copy *copy, uint64_t before_ns,
                                   uint64_t below_segment);

#endif
