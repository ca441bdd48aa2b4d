#include "store/exchange_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "store/era.h"
#include "store/file_head.h"
#include "store/small_file.h"

/* A slot as it is on the disk; zeros follow. The former format has neither counter nor epoch. */
struct exchange_image {
    struct file_head head;
    uint8_t journal_id[16];
    uint8_t exchange_id[32];
    uint8_t hash_key[16];
    uint8_t secret_key[32];
    uint64_t boot;
    uint64_t counter;
    uint64_t epoch;
    uint8_t signing_public[32];
    uint8_t zero[88];
};

static_assert(sizeof(struct exchange_image) == EXCHANGE_FILE_FORMER_BYTES, "journal.md, exchange");
static_assert(offsetof(struct exchange_image, journal_id) == 16, "journal.md, exchange");
static_assert(offsetof(struct exchange_image, exchange_id) == 32, "journal.md, exchange");
static_assert(offsetof(struct exchange_image, hash_key) == 64, "journal.md, exchange");
static_assert(offsetof(struct exchange_image, secret_key) == 80, "journal.md, exchange");
static_assert(offsetof(struct exchange_image, boot) == 112, "journal.md, exchange");
static_assert(offsetof(struct exchange_image, counter) == SLOT_COUNTER_OFFSET,
              "journal.md, exchange");
static_assert(offsetof(struct exchange_image, epoch) == 128, "journal.md, exchange");
static_assert(offsetof(struct exchange_image, signing_public) == 136, "journal.md, exchange");

static const struct file_kind slot_kind = {
    .magic = { 'p', 'e', 'r', 'p', 'd', 'E', 'X', 'C' },
    .format_version = EXCHANGE_FILE_VERSION,
    .header_bytes = SLOT_BYTES,
};
static const struct file_kind former_kind = {
    .magic = { 'p', 'e', 'r', 'p', 'd', 'E', 'X', 'C' },
    .format_version = EXCHANGE_FILE_FORMER_VERSION,
    .header_bytes = EXCHANGE_FILE_FORMER_BYTES,
};
static const char *const folders[] = { "journal", "snapshot", "archive" };

static void image_decode(struct exchange_file *out, const uint8_t *bytes)
{
    struct exchange_image image;

    memcpy(&image, bytes, sizeof image);
    memset(out, 0, sizeof *out);
    memcpy(out->journal_id, image.journal_id, sizeof out->journal_id);
    memcpy(out->exchange_id, image.exchange_id, sizeof out->exchange_id);
    memcpy(out->hash_key, image.hash_key, sizeof out->hash_key);
    memcpy(out->secret_key, image.secret_key, sizeof out->secret_key);
    out->boot = image.boot;
    out->epoch = image.epoch;
    memcpy(out->signing_public, image.signing_public, sizeof out->signing_public);
    explicit_bzero(&image, sizeof image);
}

/* Writes one slot but its counter and checksum. */
static void encode(uint8_t out[SLOT_BYTES], const struct exchange_file *exchange)
{
    struct exchange_image image = { .boot = exchange->boot, .epoch = exchange->epoch };

    memcpy(image.journal_id, exchange->journal_id, sizeof image.journal_id);
    memcpy(image.exchange_id, exchange->exchange_id, sizeof image.exchange_id);
    memcpy(image.hash_key, exchange->hash_key, sizeof image.hash_key);
    memcpy(image.secret_key, exchange->secret_key, sizeof image.secret_key);
    memcpy(image.signing_public, exchange->signing_public, sizeof image.signing_public);
    memset(out, 0, SLOT_BYTES);
    memcpy(out, &image, sizeof image);
    explicit_bzero(&image, sizeof image);
}

int exchange_file_decode(struct exchange_file *out, const uint8_t bytes[SLOT_BYTES])
{
    const size_t used = offsetof(struct exchange_image, zero);

    if (!file_head_is(bytes, &slot_kind) || !file_head_is_intact(bytes, SLOT_BYTES) ||
        !cc_is_zero(bytes + used, SLOT_BYTES - used))
        return -EBADMSG;
    image_decode(out, bytes);
    return 0;
}

/* The former format: one block and nothing after it. */
static int former_read(struct disk *disk, uint8_t bytes[SLOT_BYTES], struct exchange_file *out)
{
    const size_t used = offsetof(struct exchange_image, counter);
    int64_t count = small_file_read(disk, "exchange", bytes, SLOT_BYTES);

    if (count < 0)
        return (int)count;
    if (count != EXCHANGE_FILE_FORMER_BYTES || !file_head_is(bytes, &former_kind) ||
        !file_head_is_intact(bytes, EXCHANGE_FILE_FORMER_BYTES) ||
        !cc_is_zero(bytes + used, EXCHANGE_FILE_FORMER_BYTES - used))
        return -EBADMSG;
    image_decode(out, bytes);
    out->epoch = 1;
    out->is_former = true;
    return 0;
}

int exchange_file_read(struct disk *disk, struct exchange_file *out)
{
    uint8_t bytes[SLOT_BYTES];
    struct slot_location slots;
    int error = slot_file_read(disk, "exchange", &slot_kind, bytes, &slots);

    memset(out, 0, sizeof *out);
    if (error == -EBADMSG) {
        error = former_read(disk, bytes, out);
    } else if (error == 0) {
        error = exchange_file_decode(out, bytes);
        out->slots = slots;
    }
    explicit_bzero(bytes, sizeof bytes); /* holds secret_key */
    if (error == 0)
        error = era_read(disk, out, NULL);
    if (error != 0)
        explicit_bzero(out, sizeof *out);
    return error;
}

const uint8_t *exchange_file_journal(const struct exchange_file *exchange, uint64_t segment)
{
    for (uint32_t i = 0; i < exchange->era_count; i++)
        if (segment < exchange->eras[i].end_segment)
            return exchange->eras[i].journal_id;
    return exchange->journal_id;
}

const uint8_t *exchange_file_journal_of(const struct exchange_file *exchange, uint64_t frame)
{
    for (uint32_t i = 0; i < exchange->era_count; i++)
        if (frame <= exchange->eras[i].frame)
            return exchange->eras[i].journal_id;
    return exchange->journal_id;
}

bool exchange_file_is(const struct exchange_file *exchange,
                      const uint8_t own[EXCHANGE_FILE_JOURNAL_ID_BYTES],
                      const uint8_t journal_id[EXCHANGE_FILE_JOURNAL_ID_BYTES],
                      const uint8_t exchange_id[EXCHANGE_FILE_ID_BYTES],
                      const uint8_t hash_key[EXCHANGE_FILE_HASH_KEY_BYTES])
{
    return memcmp(journal_id, own, EXCHANGE_FILE_JOURNAL_ID_BYTES) == 0 &&
           memcmp(exchange_id, exchange->exchange_id, sizeof exchange->exchange_id) == 0 &&
           memcmp(hash_key, exchange->hash_key, sizeof exchange->hash_key) == 0;
}

int exchange_file_write(struct disk *disk, struct exchange_file *exchange)
{
    uint8_t bytes[SLOT_BYTES];
    int error;

    encode(bytes, exchange);
    if (exchange->is_former)
        error = slot_file_replace(disk, "exchange", &slot_kind, bytes, &exchange->slots);
    else
        error = slot_file_write(disk, "exchange", &slot_kind, bytes, &exchange->slots);
    explicit_bzero(bytes, sizeof bytes); /* holds secret_key */
    exchange->is_former = exchange->is_former && error != 0;
    return error;
}

/* What a folder holds that makes a new exchange in this directory impossible. */
struct contents {
    uint64_t files; /* neither .next nor .part */
    char example[REFUSAL_TEXT_BYTES / 4];
};

static bool ends_with(const char *name, const char *end)
{
    size_t name_length = strlen(name);
    size_t end_length = strlen(end);

    return name_length >= end_length && strcmp(name + name_length - end_length, end) == 0;
}

static void contents_visit(void *context, const char *name, uint64_t bytes)
{
    struct contents *contents = context;

    (void)bytes;
    if (ends_with(name, ".next") || ends_with(name, ".part"))
        return;
    contents->files++;
    (void)snprintf(contents->example, sizeof contents->example, "%s", name);
}

/* Makes the folders and their names durable, so that no later name in one is lost with it. */
static int folders_make(struct disk *disk)
{
    int error = disk_make_folder(disk, "");

    for (size_t i = 0; error == 0 && i < CC_COUNT(folders); i++)
        error = disk_make_folder(disk, folders[i]);
    return error == 0 ? disk_sync_folder(disk, "") : error;
}

static enum refusal_kind exchange_create(struct disk *disk, const uint8_t *wanted_id,
                                         struct exchange_file *out, struct refusal *refusal)
{
    int error;

    memset(out, 0, sizeof *out);
    out->epoch = 1;
    out->is_former = true;
    disk_random(disk, out->journal_id, sizeof out->journal_id);
    disk_random(disk, out->hash_key, sizeof out->hash_key);
    disk_random(disk, out->secret_key, sizeof out->secret_key);
    disk_random(disk, out->exchange_id, sizeof out->exchange_id);
    if (wanted_id)
        memcpy(out->exchange_id, wanted_id, sizeof out->exchange_id);
    error = exchange_file_write(disk, out);
    return error < 0 ? refusal_machine(refusal, "writing exchange", error) : REFUSAL_none;
}

static enum refusal_kind exchange_check(int error, const uint8_t *wanted_id,
                                        const struct exchange_file *exchange,
                                        struct refusal *refusal)
{
    const uint8_t *own = exchange->exchange_id;

    if (error == -EBADMSG)
        return refusal_set(
            refusal, REFUSAL_exchange_damaged,
            "none of its %d slots is whole, or `origin` does not lead to its journal", SLOT_COUNT);
    if (error < 0)
        return refusal_machine(refusal, "reading exchange", error);
    if (wanted_id && memcmp(wanted_id, own, sizeof exchange->exchange_id) != 0)
        return refusal_set(refusal, REFUSAL_exchange_id,
                           "exchange.id begins %02x%02x%02x%02x, the directory's %02x%02x%02x%02x",
                           wanted_id[0], wanted_id[1], wanted_id[2], wanted_id[3], own[0], own[1],
                           own[2], own[3]);
    return REFUSAL_none;
}

enum refusal_kind exchange_file_open(struct disk *disk, const uint8_t *wanted_id,
                                     struct exchange_file *out, bool *is_new,
                                     struct refusal *refusal)
{
    struct contents contents[CC_COUNT(folders)];
    int error;

    refusal_clear(refusal);
    memset(contents, 0, sizeof contents);
    *is_new = false;
    error = folders_make(disk);
    if (error < 0)
        return refusal_machine(refusal, "making its folders", error);
    error = disk_lock(disk);
    if (error == -EWOULDBLOCK)
        return refusal_set(refusal, REFUSAL_locked, "its lock is held");
    if (error < 0)
        return refusal_machine(refusal, "taking its lock", error);
    for (size_t i = 0; i < CC_COUNT(folders); i++) {
        error = disk_list(disk, folders[i], contents_visit, &contents[i]);
        if (error < 0)
            return refusal_machine(refusal, "listing its folders", error);
    }
    error = exchange_file_read(disk, out);
    for (size_t i = 0; error == -ENOENT && i < CC_COUNT(folders); i++) {
        if (contents[i].files > 0)
            return refusal_set(refusal, REFUSAL_exchange_missing, "%s/%s is there", folders[i],
                               contents[i].example);
    }
    if (error == -ENOENT) {
        *is_new = true;
        return exchange_create(disk, wanted_id, out, refusal);
    }
    return exchange_check(error, wanted_id, out, refusal);
}
