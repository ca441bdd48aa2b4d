/* The file `exchange` and the ways a data directory is refused (journal.md, Data directory). */
#include <errno.h>

#include "base/crc32c.h"
#include "check.h"
#include "store/exchange_file.h"
#include "store/file_head.h"
#include "support/sim/disk_sim.h"

static struct disk *disk_new(void)
{
    struct disk_sim_config config = { .seed = 4, .block_bytes = 512, .latency_max = 1 };
    struct disk *disk = disk_sim_create(&config);

    CHECK(disk);
    return disk;
}

static void file_put(struct disk *disk, const char *path)
{
    int file = disk_open(disk, path, DISK_CREATE);

    CHECK(file >= 0);
    CHECK(disk_write(disk, file, 0, "x", 1) == 0);
    CHECK(disk_sync(disk, file) == 0);
    disk_close(disk, file);
}

static void offsets(void)
{
    struct exchange_file exchange = { .boot = 0x1122334455667788U,
                                      .epoch = 0x0102030405060708U,
                                      .is_former = true };
    struct exchange_file back;
    struct disk *disk = disk_new();
    uint8_t bytes[SLOT_BYTES];

    memset(exchange.journal_id, 0xA1, 16);
    memset(exchange.exchange_id, 0xB2, 32);
    memset(exchange.hash_key, 0xC3, 16);
    memset(exchange.secret_key, 0xD4, 32);
    CHECK(disk_make_folder(disk, "") == 0);
    CHECK(exchange_file_write(disk, &exchange) == 0);
    CHECK(disk_sim_file_bytes(disk, "exchange") == 4 * 4096);
    for (uint64_t slot = 0; slot < 4; slot++) {
        disk_sim_peek(disk, "exchange", slot * 4096, bytes, sizeof bytes);
        CHECK(memcmp(bytes, "perpdEXC", 8) == 0);
        CHECK(cc_load16(bytes + 8) == 2);
        CHECK(cc_load16(bytes + 10) == 4096);
        CHECK(cc_load32(bytes + 12) == crc32c(bytes + 16, 4080));
        CHECK(bytes[16] == 0xA1 && bytes[31] == 0xA1);
        CHECK(bytes[32] == 0xB2 && bytes[63] == 0xB2);
        CHECK(bytes[64] == 0xC3 && bytes[79] == 0xC3);
        CHECK(bytes[80] == 0xD4 && bytes[111] == 0xD4);
        CHECK(cc_load64(bytes + 112) == 0x1122334455667788U);
        CHECK(cc_load64(bytes + 120) == 1);
        CHECK(cc_load64(bytes + 128) == 0x0102030405060708U);
        for (size_t i = 136; i < sizeof bytes; i++)
            CHECK(bytes[i] == 0);
    }
    CHECK(exchange_file_decode(&back, bytes) == 0);
    back.slots = exchange.slots;
    CHECK(memcmp(&back, &exchange, sizeof back) == 0);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] ^= 0x40;
        CHECK(exchange_file_decode(&back, bytes) == -EBADMSG);
        bytes[i] ^= 0x40;
    }
    disk_sim_destroy(disk);
}

/* One block of 256 bytes, version 1: read, and replaced by the next write. */
static void former_format(void)
{
    static const struct file_kind former = { .magic = { 'p', 'e', 'r', 'p', 'd', 'E', 'X', 'C' },
                                             .format_version = 1,
                                             .header_bytes = 256 };
    struct exchange_file exchange;
    struct refusal refusal;
    struct disk *disk = disk_new();
    uint8_t bytes[257] = { 0 };
    bool is_new;

    memset(bytes + 16, 0x5A, 96);
    cc_store64(bytes + 112, 41);
    file_head_seal(bytes, 256, &former);
    CHECK(exchange_file_open(disk, NULL, &exchange, &is_new, &refusal) == REFUSAL_none);
    disk_sim_kill(disk, 1);
    for (size_t count = 255; count <= 257; count++) {
        int file = disk_open(disk, "exchange", DISK_CREATE);

        CHECK(file >= 0 && disk_write(disk, file, 0, bytes, count) == 0);
        disk_close(disk, file);
        CHECK(exchange_file_read(disk, &exchange) == (count == 256 ? 0 : -EBADMSG));
        if (count != 256)
            continue;
        CHECK(exchange.is_former && exchange.boot == 41 && exchange.epoch == 1);
        for (size_t i = 0; i < 256; i++) {
            disk_sim_poke(disk, "exchange", i, (uint8_t[]){ bytes[i] ^ 4 }, 1);
            CHECK(exchange_file_read(disk, &exchange) == -EBADMSG);
            disk_sim_poke(disk, "exchange", i, bytes + i, 1);
        }
        CHECK(exchange_file_read(disk, &exchange) == 0);
        CHECK(exchange_file_write(disk, &exchange) == 0 && !exchange.is_former);
        CHECK(exchange_file_read(disk, &exchange) == 0);
        CHECK(!exchange.is_former && exchange.boot == 41 && exchange.secret_key[31] == 0x5A);
    }
    disk_sim_destroy(disk);
}

/* Any one of the four slots suffices; the next write mends the others. */
static void damaged_slots(void)
{
    for (uint32_t damaged = 1; damaged < 16; damaged++) {
        struct disk *disk = disk_new();
        struct exchange_file exchange;
        struct exchange_file back;
        struct refusal refusal;
        bool is_new;

        CHECK(exchange_file_open(disk, NULL, &exchange, &is_new, &refusal) == REFUSAL_none);
        for (exchange.boot = 1; exchange.boot < 7; exchange.boot++)
            CHECK(exchange_file_write(disk, &exchange) == 0);
        for (uint32_t i = 0; i < 4; i++)
            if ((damaged & 1U << i) != 0)
                disk_sim_poke(disk, "exchange", i * 4096 + 300, "x", 1);
        int read = exchange_file_read(disk, &back);
        CHECK(read == (damaged == 15 ? -EBADMSG : 0));
        if (read == 0) {
            CHECK(back.slots.damaged == damaged);
            CHECK(back.boot >= 3 && back.boot <= 6); /* the four newest are on the disk */
            back.boot = 9;
            CHECK(exchange_file_write(disk, &back) == 0 && back.slots.damaged == 0);
            CHECK(exchange_file_read(disk, &exchange) == 0);
            CHECK(exchange.boot == 9 && exchange.slots.damaged == 0);
        }
        disk_sim_destroy(disk);
    }
}

static void new_directory(void)
{
    struct disk *disk = disk_new();
    struct exchange_file first;
    struct exchange_file again;
    struct refusal refusal;
    uint8_t wanted[32];
    bool is_new;

    memset(wanted, 9, sizeof wanted);
    CHECK(exchange_file_open(disk, wanted, &first, &is_new, &refusal) == REFUSAL_none);
    CHECK(is_new && first.boot == 0);
    CHECK(memcmp(first.exchange_id, wanted, 32) == 0);
    CHECK(disk_sim_file_bytes(disk, "exchange") == SLOT_FILE_BYTES);

    CHECK(exchange_file_open(disk, wanted, &again, &is_new, &refusal) == REFUSAL_locked);
    CHECK(refusal_exit_code(REFUSAL_locked) == 3);

    disk_sim_crash(disk, 1); /* it was made durable */
    CHECK(exchange_file_open(disk, NULL, &again, &is_new, &refusal) == REFUSAL_none);
    CHECK(!is_new);
    CHECK(memcmp(&again, &first, sizeof first) == 0);

    again.boot = 17;
    CHECK(exchange_file_write(disk, &again) == 0);
    disk_sim_crash(disk, 2);
    CHECK(exchange_file_open(disk, wanted, &first, &is_new, &refusal) == REFUSAL_none);
    CHECK(first.boot == 17);

    disk_sim_crash(disk, 3);
    wanted[31] ^= 1;
    CHECK(exchange_file_open(disk, wanted, &first, &is_new, &refusal) == REFUSAL_exchange_id);
    CHECK(refusal.text[0] != '\0');
    disk_sim_destroy(disk);
}

static void refused(void)
{
    static const struct {
        int line;
        const char *name;
        bool has_exchange;
        const char *file;
        enum refusal_kind want;
    } rows[] = {
        { __LINE__, "journal without exchange", false, "journal/0000000000.seg",
          REFUSAL_exchange_missing },
        { __LINE__, "only a segment being prepared", false, "journal/0000000000.next",
          REFUSAL_none },
        { __LINE__, "a snapshot", true, "snapshot/12.snap", REFUSAL_none },
        { __LINE__, "a snapshot and no exchange", false, "snapshot/12.snap",
          REFUSAL_exchange_missing },
        { __LINE__, "only a snapshot being written", false, "snapshot/12.snap.part", REFUSAL_none },
        { __LINE__, "an archived segment and no exchange", false, "archive/0000000000.seg.zst",
          REFUSAL_exchange_missing },
        { __LINE__, "the archive's index and no exchange", false, "archive/index",
          REFUSAL_exchange_missing },
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct disk *disk = disk_new();
        struct exchange_file exchange;
        struct refusal refusal;
        bool is_new;

        CHECK(exchange_file_open(disk, NULL, &exchange, &is_new, &refusal) == REFUSAL_none);
        file_put(disk, rows[i].file);
        disk_sim_kill(disk, 1);
        if (!rows[i].has_exchange)
            disk_sim_remove(disk, "exchange");
        CHECK_ROW(&rows[i],
                  exchange_file_open(disk, NULL, &exchange, &is_new, &refusal) == rows[i].want);
        CHECK_ROW(&rows[i], rows[i].want == REFUSAL_none || refusal_exit_code(rows[i].want) == 3);
        disk_sim_destroy(disk);
    }
}

/* A power loss at any call while `exchange` is written leaves the old or the new one. */
static void replaced_at_once(void)
{
    for (uint64_t call = 1; call <= 8; call++) {
        for (uint64_t seed = 0; seed < 16; seed++) {
            struct disk *disk = disk_new();
            struct exchange_file exchange;
            struct refusal refusal;
            bool written;
            bool is_new;

            CHECK(exchange_file_open(disk, NULL, &exchange, &is_new, &refusal) == REFUSAL_none);
            exchange.boot = 1;
            disk_sim_stop_at(disk, call);
            written = exchange_file_write(disk, &exchange) == 0;
            disk_sim_crash(disk, seed);
            CHECK(exchange_file_open(disk, NULL, &exchange, &is_new, &refusal) == REFUSAL_none);
            CHECK(!is_new);
            CHECK(exchange.boot == 1 || (!written && exchange.boot == 0));
            CHECK(!written || exchange.slots.damaged == 0);
            disk_sim_destroy(disk);
        }
    }
}

static void damaged_sizes(void)
{
    struct disk *disk = disk_new();
    struct exchange_file exchange;
    struct refusal refusal;
    bool is_new;

    CHECK(exchange_file_open(disk, NULL, &exchange, &is_new, &refusal) == REFUSAL_none);
    disk_sim_kill(disk, 1);
    file_put(disk, "exchange"); /* one byte */
    CHECK(exchange_file_open(disk, NULL, &exchange, &is_new, &refusal) == REFUSAL_exchange_damaged);
    disk_sim_destroy(disk);
}

int main(void)
{
    offsets();
    former_format();
    damaged_slots();
    new_directory();
    refused();
    replaced_at_once();
    damaged_sizes();
    return 0;
}
