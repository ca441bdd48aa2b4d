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

static void encode_entry(uint8_t out[POISON_ENTRY_BYTES], const struct poison_entry *entry)
{
    memset(out, 0, POISON_ENTRY_BYTES);
    cc_store64(out, entry->account);
    memcpy(out + 8, entry->id, sizeof entry->id);
    cc_store64(out + 24, entry->found_ns);
    cc_store16(out + 32, entry->code);
    out[34] = entry->has_id;
    cc_store32(out + 36, entry->signal);
}

/* False: a byte that no writer of this version leaves so. */
static bool decode_entry(struct poison_entry *entry, const uint8_t bytes[POISON_ENTRY_BYTES])
{
    entry->account = cc_load64(bytes);
    memcpy(entry->id, bytes + 8, sizeof entry->id);
    entry->found_ns = cc_load64(bytes + 24);
    entry->code = cc_load16(bytes + 32);
    entry->has_id = bytes[34] == 1;
    entry->signal = cc_load32(bytes + 36);
    return bytes[34] <= 1 && bytes[35] == 0 && cc_load64(bytes + 40) == 0;
}

size_t poison_file_encode(uint8_t out[POISON_FILE_BYTES_MAX], const struct poison_file *poison,
                          const uint8_t exchange_id[32])
{
    size_t bytes = POISON_HEAD_BYTES;

    INVARIANT(poison->entry_count <= POISON_ENTRIES_MAX);
    memset(out, 0, POISON_HEAD_BYTES);
    memcpy(out + AT_EXCHANGE, exchange_id, 32);
    cc_store64(out + AT_RUN, poison->run);
    cc_store32(out + AT_COUNT, poison->entry_count);
    for (uint32_t i = 0; i < poison->entry_count; i++, bytes += POISON_ENTRY_BYTES)
        encode_entry(out + bytes, &poison->entries[i]);
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
    uint32_t entries = cc_load32(bytes + AT_COUNT);
    if (entries > POISON_ENTRIES_MAX ||
        count != POISON_HEAD_BYTES + (size_t)entries * POISON_ENTRY_BYTES)
        return -EBADMSG;
    for (uint32_t i = 0; i < entries; i++)
        if (!decode_entry(&poison->entries[i], bytes + POISON_HEAD_BYTES + i * POISON_ENTRY_BYTES))
            return -EBADMSG;
    poison->run = cc_load64(bytes + AT_RUN);
    poison->entry_count = entries;
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

void poison_file_add(struct poison_file *poison, const struct poison_entry *entry)
{
    bool is_full = poison->entry_count == POISON_ENTRIES_MAX;
    uint32_t at = is_full ? POISON_ENTRIES_MAX - 1 : poison->entry_count++;

    poison->entries[at] = *entry;
    if (is_full)
        poison->entries[at].has_id = false;
}

uint32_t poison_file_count(const struct poison_file *poison, uint16_t code)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < poison->entry_count; i++)
        count += poison->entries[i].has_id && poison->entries[i].code == code;
    return count;
}

bool poison_file_has(const struct poison_file *poison, uint64_t account, const uint8_t id[16])
{
    for (uint32_t i = 0; i < poison->entry_count; i++) {
        const struct poison_entry *entry = &poison->entries[i];
        if (entry->has_id && entry->account == account &&
            memcmp(entry->id, id, sizeof entry->id) == 0)
            return true;
    }
    return false;
}

const struct poison_entry *poison_file_stop(const struct poison_file *poison)
{
    for (uint32_t i = 0; i < poison->entry_count; i++)
        if (!poison->entries[i].has_id)
            return &poison->entries[i];
    return NULL;
}
