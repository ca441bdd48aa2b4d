/* frame.h - one commit of the journal: a header of 128 bytes, records, zeros (journal.md, Frame).
 *
 *   0         128                 128 + record_bytes        length (a multiple of the block)
 *   | header  | record | record.. | zeros                   |
 *
 * Any thread; no state. A frame is *whole* if its bytes are as one writer wrote them. It *chains*
 * if it follows the given predecessor. A reader trusts a frame only if it does both. */
#ifndef STORE_FRAME_H
#define STORE_FRAME_H

#include "base/hash.h"
#include "store/record.h"

enum {
    FRAME_VERSION = 1,
    FRAME_HEADER_BYTES = 128,
    FRAME_BYTES_MAX = 1 << 20,
    FRAME_JOURNAL_ID_BYTES = 16
};

struct frame_header {
    uint8_t journal_id[FRAME_JOURNAL_ID_BYTES];
    uint64_t boot;    /* +1 at each start */
    uint64_t segment; /* number of the segment it is in */
    uint64_t number;  /* from 1; used again only after a cut, with a higher boot */
    uint64_t first_sequence;
    uint64_t last_sequence; /* first_sequence + record_count - 1 */
    uint64_t durable_frame; /* last frame known durable when this one was submitted */
    uint32_t length;        /* bytes, header and padding included */
    uint32_t record_count;  /* 0: the closing frame of a clean stop */
    uint32_t record_bytes;
    uint8_t previous_hash[HASH_BYTES]; /* of the frame before; frame 1: of exchange_id */
};

/* What a frame must follow: the last frame of a chain, or its beginning (frame_tail_start). */
struct frame_tail {
    uint64_t number; /* 0: no frame yet */
    uint64_t last_sequence;
    uint64_t boot;
    uint8_t hash[HASH_BYTES];
};

/* The records of a whole frame, one after the other. */
struct frame_records {
    const uint8_t *at;
    const uint8_t *end;
    uint64_t sequence; /* of the next record */
    uint32_t left;     /* records */
};

/* Writes the header before the records at bytes[128..], with its CRC. The bytes after the records,
 * up to header->length, must be zero already. */
void frame_seal(uint8_t *bytes, const struct frame_header *header);

/* Decodes and checks the frame at the start of `bytes`; `available` bytes may be read, at most the
 * rest of the segment. Returns 0 if it is whole; else -EBADMSG, and `out` is undefined. */
CC_MUST_USE int frame_decode(struct frame_header *out, const uint8_t *bytes, size_t available,
                             const uint8_t journal_id[FRAME_JOURNAL_ID_BYTES], uint64_t segment,
                             uint32_t block_bytes);

/* Returns the frame number in these first bytes, unchecked; 0 if no frame begins with them. */
CC_MUST_USE uint64_t frame_claimed_number(const uint8_t bytes[FRAME_HEADER_BYTES]);

/* The same for its first sequence; frame_claimed_number of the bytes must not be 0. */
CC_MUST_USE uint64_t frame_claimed_sequence(const uint8_t bytes[FRAME_HEADER_BYTES]);

/* Where every chain begins: frame 0, sequence 0, boot 0, the hash of exchange_id. */
void frame_tail_start(struct frame_tail *tail, const uint8_t exchange_id[32]);

/* True if a whole frame with this header follows `tail`. The caller checks its location. */
CC_MUST_USE bool frame_chains(const struct frame_tail *tail, const struct frame_header *header);

/* Makes the frame the tail; hashes its `length` bytes. */
void frame_tail_advance(struct frame_tail *tail, const struct frame_header *header,
                        const uint8_t *bytes);

/* Iterate over the records of a whole frame: after begin, next returns 1 and fills `out` and
 * *sequence; 0 after the last record; -EBADMSG if the bytes are no records, which never happens in
 * a frame that perpd wrote. */
void frame_records_begin(struct frame_records *records, const struct frame_header *header,
                         const uint8_t *bytes);
CC_MUST_USE int frame_records_next(struct frame_records *records, struct record_view *out,
                                   uint64_t *sequence);

/* Goes through all records of a whole frame, *last_t_ns the t of each in turn. 0; or -EBADMSG as
 * frame_records_next. */
CC_MUST_USE int frame_records_survey(const struct frame_header *header, const uint8_t *bytes,
                                     uint64_t *last_t_ns);

#endif
