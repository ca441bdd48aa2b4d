/* poison_file.h - the file `poison` of a data directory: commands on which the process aborted and
 * which no operator has cleared (roles.md, Poison command).
 *
 * Little-endian. Head of 64 bytes: magic `perpdPSN`[0] format_version u16 = 1[8] header_bytes
 * u16 = 64[10] crc32c of bytes 16 to the end u32[12] exchange_id 32[16] run u64[48] row_count
 * u32[56] zero u32[60]. Then rows of 48 bytes: account u64[0] id 16[8] found_ns u64[24] code
 * u16[32] has_id u8[34] zero u8[35] signal u32[36] zero u64[40].
 *
 * Wait.  Blocking.
 * Owner. The process that holds the data directory's lock.
 * Bound. POISON_ROWS_MAX rows. */
#ifndef NODE_RECOVER_POISON_FILE_H
#define NODE_RECOVER_POISON_FILE_H

#include "store/disk.h"

enum {
    POISON_ROWS_MAX = 256,
    POISON_HEAD_BYTES = 64,
    POISON_ROW_BYTES = 48,
    POISON_FILE_BYTES_MAX = POISON_HEAD_BYTES + POISON_ROWS_MAX * POISON_ROW_BYTES,
};

/* One fault. */
struct poison_row {
    uint64_t account; /* W5: key of the duplicate set; with has_id */
    uint8_t id[16];
    uint64_t found_ns; /* unix ns of the start that found it */
    uint16_t code;     /* request type, or POISON_CODE_UNKNOWN */
    bool has_id;       /* false: perpd does not start until it is cleared */
    uint32_t signal;
};

struct poison_file {
    uint64_t run; /* of the process whose fault was recorded last; 0: none */
    uint32_t row_count;
    struct poison_row rows[POISON_ROWS_MAX];
};

/* Returns the number of bytes written to `out`. */
size_t poison_file_encode(uint8_t out[POISON_FILE_BYTES_MAX], const struct poison_file *poison,
                          const uint8_t exchange_id[32]);

/* 0; -EBADMSG when it is damaged or of another version; -EXDEV when it is another exchange's. */
CC_MUST_USE int poison_file_decode(struct poison_file *poison, const uint8_t *bytes, size_t count,
                                   const uint8_t exchange_id[32]);

/* A directory without the file has no rows. 0, an error of decode, or -errno of the disk. */
CC_MUST_USE int poison_file_load(struct poison_file *poison, struct disk *disk,
                                 const uint8_t exchange_id[32]);

/* Replaces the file atomically and durably. 0 or -errno. */
CC_MUST_USE int poison_file_store(const struct poison_file *poison, struct disk *disk,
                                  const uint8_t exchange_id[32]);

/* Adds a row. Without room it replaces the last one and, having no id, prevents starts. */
void poison_file_add(struct poison_file *poison, const struct poison_row *row);

/* The number of faults on requests of this type. */
uint32_t poison_file_count(const struct poison_file *poison, uint16_t code);

/* Whether this request is in the file. */
CC_MUST_USE bool poison_file_has(const struct poison_file *poison, uint64_t account,
                                 const uint8_t id[16]);

/* The first row without id, which prevents a start; NULL: none. */
const struct poison_row *poison_file_stop(const struct poison_file *poison);

#endif
