/* segment.h - a journal segment as a file: its name, its 4,096-byte header (journal.md, Segment).
 *
 *   0           128          4096                                           segment_bytes
 *   | header    | zeros      | frame | frame | ... | zeros                  |
 *
 * Any thread; no state. A segment is zeroed and synced before its name appears; frames fill it from
 * SEGMENT_FRAMES_OFFSET on, each on a block. The size is not in the header: it is the file's. */
#ifndef STORE_SEGMENT_H
#define STORE_SEGMENT_H

#include "store/disk.h"
#include "store/exchange_file.h"

enum {
    SEGMENT_VERSION = 1,
    SEGMENT_HEADER_BYTES = 128,
    SEGMENT_FRAMES_OFFSET = 4096,
    SEGMENT_BYTES_DEFAULT = 64 << 20,
    SEGMENT_BYTES_MIN = 4 * 4096 /* tests; a multiple of 4,096 and at most 2^30 */
};

struct segment_header {
    uint8_t journal_id[EXCHANGE_FILE_JOURNAL_ID_BYTES];
    uint8_t exchange_id[EXCHANGE_FILE_ID_BYTES];
    uint8_t hash_key[EXCHANGE_FILE_HASH_KEY_BYTES];
    uint64_t number;      /* from 0 */
    uint64_t boot;        /* the start that prepared it */
    uint32_t block_bytes; /* frames begin on it and are multiples of it */
};

/* Writes the whole first 4,096 bytes of a segment. */
void segment_encode(uint8_t out[SEGMENT_FRAMES_OFFSET], const struct segment_header *header);

/* Returns memory for a whole segment, aligned for direct reads and on huge pages where the kernel
 * has them; NULL if there is none. The caller frees it. */
CC_MUST_USE uint8_t *segment_memory(uint64_t segment_bytes);

/* Returns 0, or -EBADMSG if magic, version, size, CRC, block or a byte that must be zero is wrong.
 * */
CC_MUST_USE int segment_decode(struct segment_header *out,
                               const uint8_t bytes[SEGMENT_FRAMES_OFFSET]);

/* Returns the header of segment `number` of this exchange. */
struct segment_header segment_header_of(const struct exchange_file *exchange, uint64_t number,
                                        uint64_t boot, uint32_t block_bytes);

/* True if a decoded header belongs to this exchange and is in the file of its number. */
CC_MUST_USE bool segment_belongs(const struct segment_header *header,
                                 const struct exchange_file *exchange, uint64_t number);

/* Writes "journal/NNNNNNNNNN.seg", or the same with ".next" if it is not prepared yet. */
void segment_path(char out[DISK_PATH_BYTES], uint64_t number, bool prepared);

/* Reads the number of a file name "NNNNNNNNNN.seg"; false for every other name. */
CC_MUST_USE bool segment_number_of(const char *name, uint64_t *number);

/* The numbers of the segments in journal/. There is no gap if count = max - min + 1. */
struct segment_range {
    uint64_t min; /* UINT64_MAX: there is none */
    uint64_t max;
    uint64_t count;
};

/* Lists journal/. Returns 0 or -errno; -ENOENT and an empty range without the folder. Blocking. */
CC_MUST_USE int segment_range_of(struct disk *disk, struct segment_range *out);

#endif
