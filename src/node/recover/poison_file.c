#include "node/recover/poison_file.h"

#include <errno.h>

#include "store/file_head.h"
#include "store/small_file.h"

enum {
    FORMAT_VERSION = 1,
    AT_EXCHANGE = 16,
    AT_RUN = 48,
    AT_COUNT = 56,
    AT_ZERO = 60,
};

static const struct file_kind head_kind = {
    .magic = { 'p', 'e', 'r', 'p', 'd', 'P', 'S', 'N' },
    .format_version = FORMAT_VERSION,
    .header_bytes = POISON_HEAD_BYTES,
};

static void encode_row(uint8_t out[POISON_ROW_BYTES], const struct poison_row *row)
{
    memset(out, 0, POISON_ROW_BYTES);
    cc_store64(out, row->account);
    memcpy(out + 8, row->id, sizeof row->id);
    cc_store64(out + 24, row->found_ns);
    cc_store16(out + 32, row->code);
    out[34] = row->has_id;
    cc_store32(out + 36, row->signal);
}

/* False: a byte that no writer of this version leaves so. */
static bool decode_row(struct poison_row *row, const uint8_t bytes[POISON_ROW_BYTES])
{
    row->account = cc_load64(bytes);
    memcpy(row->id, bytes + 8, sizeof row->id);
    row->found_ns = cc_load64(bytes + 24);
    row->code = cc_load16(bytes + 32);
    row->has_id = bytes[34] == 1;
    row->signal = cc_load32(bytes + 36);
    return bytes[34] <= 1 && bytes[35] == 0 && cc_load64(bytes + 40) == 0;
}

size_t poison_file_encode(uint8_t out[POISON_FILE_BYTES_MAX], const struct poison_file *poison,
                          const uint8_t exchange_id[32])
{
    size_t bytes = POISON_HEAD_BYTES;

    INVARIANT(poison->row_count <= POISON_ROWS_MAX);
    memset(out, 0, POISON_HEAD_BYTES);
    memcpy(out + AT_EXCHANGE, exchange_id, 32);
    cc_store64(out + AT_RUN, poison->run);
    cc_store32(out + AT_COUNT, poison->row_count);
    for (uint32_t i = 0; i < poison->row_count; i++, bytes += POISON_ROW_BYTES)
        encode_row(out + bytes, &poison->rows[i]);
    file_head_seal(out, bytes, &head_kind);
    return bytes;
}

int poison_file_decode(struct poison_file *poison, const uint8_t *bytes, size_t count,
                       const uint8_t exchange_id[32])
{
    memset(poison, 0, sizeof *poison);
    if (count < POISON_HEAD_BYTES || !file_head_is(bytes, &head_kind) ||
        cc_load32(bytes + AT_ZERO) != 0 || !file_head_is_intact(bytes, count))
        return -EBADMSG;
    if (memcmp(bytes + AT_EXCHANGE, exchange_id, 32) != 0)
        return -EXDEV;
    uint32_t rows = cc_load32(bytes + AT_COUNT);
    if (rows > POISON_ROWS_MAX || count != POISON_HEAD_BYTES + (size_t)rows * POISON_ROW_BYTES)
        return -EBADMSG;
    for (uint32_t i = 0; i < rows; i++)
        if (!decode_row(&poison->rows[i], bytes + POISON_HEAD_BYTES + i * POISON_ROW_BYTES))
            return -EBADMSG;
    poison->run = cc_load64(bytes + AT_RUN);
    poison->row_count = rows;
    return 0;
}

int poison_file_load(struct poison_file *poison, struct disk *disk, const uint8_t exchange_id[32])
{
    uint8_t bytes[POISON_FILE_BYTES_MAX + 1]; /* one more, to see a file that is too long */
    int64_t count = small_file_read(disk, "poison", bytes, sizeof bytes);

    memset(poison, 0, sizeof *poison);
    if (count < 0)
        return count == -ENOENT ? 0 : (int)count;
    return poison_file_decode(poison, bytes, (size_t)count, exchange_id);
}

int poison_file_store(const struct poison_file *poison, struct disk *disk,
                      const uint8_t exchange_id[32])
{
    uint8_t bytes[POISON_FILE_BYTES_MAX];
    size_t count = poison_file_encode(bytes, poison, exchange_id);

    return small_file_replace(disk, "poison", bytes, count);
}

void poison_file_add(struct poison_file *poison, const struct poison_row *row)
{
    bool is_full = poison->row_count == POISON_ROWS_MAX;
    uint32_t at = is_full ? POISON_ROWS_MAX - 1 : poison->row_count++;

    poison->rows[at] = *row;
    if (is_full)
        poison->rows[at].has_id = false;
}

uint32_t poison_file_count(const struct poison_file *poison, uint16_t code)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < poison->row_count; i++)
        count += poison->rows[i].has_id && poison->rows[i].code == code;
    return count;
}

bool poison_file_has(const struct poison_file *poison, uint64_t account, const uint8_t id[16])
{
    for (uint32_t i = 0; i < poison->row_count; i++) {
        const struct poison_row *row = &poison->rows[i];
        if (row->has_id && row->account == account && memcmp(row->id, id, sizeof row->id) == 0)
            return true;
    }
    return false;
}

const struct poison_row *poison_file_stop(const struct poison_file *poison)
{
    for (uint32_t i = 0; i < poison->row_count; i++)
        if (!poison->rows[i].has_id)
            return &poison->rows[i];
    return NULL;
}
