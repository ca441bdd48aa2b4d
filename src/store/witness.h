/* witness.h - the file `witness`: how far the journal was durable, as written beside the journal
 * (journal.md, Witness). A journal that ends below it has lost its end.
 *
 * The start reads it and writes it once; then the journal's thread writes it, with writes of its
 * own that no answer waits for. Four slots (slot_file.h). */
#ifndef STORE_WITNESS_H
#define STORE_WITNESS_H

#include "base/hash.h"
#include "store/exchange_file.h"
#include "store/slot_file.h"

enum { WITNESS_VERSION = 1 };

/* The end of a journal that was durable. */
struct witness {
    uint64_t frame;           /* number; 0: no frame yet */
    uint64_t sequence;        /* the last one up to that frame */
    uint64_t boot;            /* of the frames of those who wrote this; in a cluster the term */
    uint64_t start;           /* boot of `exchange` then, set when it is written; 0: not told */
    uint64_t wall_ns;         /* node clock, when it was written */
    uint8_t hash[HASH_BYTES]; /* of that frame; of exchange_id with frame 0 */
};

/* Writes one slot but its counter and checksum. */
void witness_encode(uint8_t out[SLOT_BYTES], const struct exchange_file *exchange,
                    const struct witness *witness);

/* Sets counter and checksum of an encoded slot. Returns the slot it belongs to. */
uint32_t witness_seal(uint8_t bytes[SLOT_BYTES], const struct slot_location *location);

/* Reads the newest slot. Returns 0; -ENOENT without the file; -EBADMSG when no slot is whole, or
 * the newest is of another journal or exchange; or -errno. */
CC_MUST_USE int witness_read(struct disk *disk, const struct exchange_file *exchange,
                             struct witness *out, struct slot_location *location);

/* Reads one slot, newest or not. Returns 0; -ENOENT without the file; -EBADMSG when it is not
 * whole, or of another journal or exchange; or -errno. */
CC_MUST_USE int witness_read_slot(struct disk *disk, const struct exchange_file *exchange,
                                  uint32_t slot, struct witness *out);

/* Writes the next slot, durable when it returns 0; makes the file if `location` says that no slot
 * is whole. Blocking. -errno. */
CC_MUST_USE int witness_write(struct disk *disk, const struct exchange_file *exchange,
                              const struct witness *witness, struct slot_location *location);

#endif
