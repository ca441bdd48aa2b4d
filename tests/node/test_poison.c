/* The file `poison` and the page of the poison guard (roles.md, Poison command): formats
 * byte by byte as their headers say, bounds, and that no file of another owner, exchange or layout
 * is believed. What perpd does with them: tests/system/test_poison.py. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "check.h"
#include "node/recover/poison.h"
#include "node/recover/run_folder.h"
#include "support/sim/disk_sim.h"

enum { SLOTS = 64, RINGS = 2, SLOT = 37, PAYLOAD_BYTES = 72, RUN = 4711 };

static uint8_t exchange_id[32] = { 0x11, 0x22, 0x33 };
static uint8_t other_id[32] = { 0x44 };
static char folder[] = "/tmp/perpd-poison-XXXXXX";

/* ---- the file -------------------------------------------------------------------------------- */

static struct poison_row row_of(uint64_t account, uint8_t last, uint16_t code, bool has_id)
{
    struct poison_row row = {
        .account = account, .found_ns = 0x0102030405060708, .code = code, .has_id = has_id
    };
    row.id[0] = 0xA0;
    row.id[15] = last;
    row.signal = SIGABRT;
    return row;
}

static void test_format(void)
{
    static struct poison_file poison, again;
    static uint8_t bytes[POISON_FILE_BYTES_MAX];
    uint8_t want[64 + 48] = "perpdPSN\1\0\100";

    poison.run = 0x1122334455667788;
    struct poison_row row = row_of(7, 0x0B, 34, true);
    poison_file_add(&poison, &row);
    memcpy(want + 16, exchange_id, 32);
    memcpy(want + 48, "\x88\x77\x66\x55\x44\x33\x22\x11\1", 9);
    want[64] = 7;
    want[72] = 0xA0;
    want[87] = 0x0B;
    memcpy(want + 88, "\x08\x07\x06\x05\x04\x03\x02\x01\x22\0\1", 11);
    want[100] = 6; /* SIGABRT */
    cc_store32(want + 12, crc32c(want + 16, sizeof want - 16));
    CHECK(poison_file_encode(bytes, &poison, exchange_id) == sizeof want);
    CHECK(memcmp(bytes, want, sizeof want) == 0);

    CHECK(poison_file_decode(&again, bytes, sizeof want, exchange_id) == 0);
    CHECK(memcmp(&again.rows[0].id, row.id, 16) == 0 && again.run == poison.run);
    CHECK(again.row_count == 1 && again.rows[0].code == 34 && again.rows[0].has_id);
    CHECK(poison_file_decode(&again, bytes, sizeof want, other_id) == -EXDEV);
    for (size_t cut = 0; cut < sizeof want; cut++)
        CHECK(poison_file_decode(&again, bytes, cut, exchange_id) == -EBADMSG);
    for (size_t at = 0; at < sizeof want; at++) {
        bytes[at] ^= 0x10;
        CHECK(poison_file_decode(&again, bytes, sizeof want, exchange_id) == -EBADMSG);
        bytes[at] ^= 0x10;
    }
}

/* Bytes whose checksum is right and that no writer of this version makes. */
static void test_foreign_format(void)
{
    static const struct {
        int line;
        const char *name;
        size_t at;
        uint8_t value;
    } rows[] = {
        { __LINE__, "version", 8, 2 },       { __LINE__, "header bytes", 10, 63 },
        { __LINE__, "count", 56, 2 },        { __LINE__, "count of many", 59, 0x80 },
        { __LINE__, "zero", 60, 1 },         { __LINE__, "has_id", 64 + 34, 2 },
        { __LINE__, "zero 35", 64 + 35, 1 }, { __LINE__, "zero 47", 64 + 47, 1 },
    };
    static struct poison_file poison, again;
    static uint8_t bytes[POISON_FILE_BYTES_MAX];

    struct poison_row row = row_of(7, 1, 0, true);
    poison_file_add(&poison, &row);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        size_t count = poison_file_encode(bytes, &poison, exchange_id);
        bytes[rows[i].at] = rows[i].value;
        cc_store32(bytes + 12, crc32c(bytes + 16, count - 16));
        CHECK_ROW(&rows[i], poison_file_decode(&again, bytes, count, exchange_id) == -EBADMSG);
    }
}

static void test_entries(void)
{
    static struct poison_file poison;
    uint8_t id[16] = { 0xA0 };

    CHECK(poison_file_stop(&poison) == NULL);
    for (uint32_t i = 0; i < POISON_ROWS_MAX; i++) {
        struct poison_row row = row_of(i, 1, (uint16_t)(i % 2), true);
        poison_file_add(&poison, &row);
    }
    id[15] = 1;
    CHECK(poison_file_has(&poison, 0, id) && poison_file_has(&poison, POISON_ROWS_MAX - 1, id));
    CHECK(!poison_file_has(&poison, POISON_ROWS_MAX, id));
    id[15] = 2;
    CHECK(!poison_file_has(&poison, 0, id));
    CHECK(poison_file_count(&poison, 0) == POISON_ROWS_MAX / 2);
    CHECK(poison_file_count(&poison, 2) == 0 && poison_file_stop(&poison) == NULL);
    struct poison_row row = row_of(9, 9, 3, true);
    poison_file_add(&poison, &row); /* no room: an operator has to look */
    CHECK(poison.row_count == POISON_ROWS_MAX);
    CHECK(poison_file_stop(&poison) == &poison.rows[POISON_ROWS_MAX - 1]);
}

static struct disk *disk_with(const struct poison_file *poison)
{
    struct disk_sim_config config = { .seed = 1, .block_bytes = 512, .latency_max = 3 };
    struct disk *disk = disk_sim_create(&config);

    CHECK(disk != NULL && disk_make_folder(disk, "") == 0);
    CHECK(poison_file_store(poison, disk, exchange_id) == 0);
    return disk;
}

/* Replaced at once: power lost at any call leaves the one or the other, and the other once the call
 * has returned. */
static void test_store(void)
{
    static struct poison_file one, two, again;
    uint64_t losses = 0;

    struct poison_row row = row_of(1, 1, 0, true);
    poison_file_add(&one, &row);
    two = one;
    poison_file_add(&two, &row);
    struct disk *disk = disk_with(&one);
    uint64_t before = disk_sim_calls(disk);
    CHECK(poison_file_store(&two, disk, exchange_id) == 0);
    uint64_t calls = disk_sim_calls(disk) - before;
    CHECK(poison_file_load(&again, disk, exchange_id) == 0 && again.row_count == 2);
    CHECK(poison_file_load(&again, disk, other_id) == -EXDEV);
    disk_sim_destroy(disk);
    for (uint64_t seed = 0; seed < 20; seed++)
        for (uint64_t n = 1; n <= calls + 1; n++) {
            disk = disk_with(&one);
            disk_sim_stop_at(disk, n);
            int failed = poison_file_store(&two, disk, exchange_id);
            CHECK((failed == 0) == (n == calls + 1));
            disk_sim_stop_at(disk, 0);
            disk_sim_crash(disk, seed);
            CHECK(poison_file_load(&again, disk, exchange_id) == 0);
            CHECK(again.row_count == 2 || (failed != 0 && again.row_count == 1));
            losses += again.row_count == 1;
            disk_sim_destroy(disk);
        }
    CHECK(calls >= 5 && losses > 20);
}

static void test_no_file(void)
{
    static struct poison_file poison;
    struct disk_sim_config config = { .seed = 1, .block_bytes = 512, .latency_max = 3 };
    struct disk *disk = disk_sim_create(&config);

    CHECK(disk != NULL && disk_make_folder(disk, "") == 0);
    CHECK(poison_file_load(&poison, disk, exchange_id) == 0 && poison.row_count == 0);
    disk_sim_destroy(disk);
}

/* ---- the page -------------------------------------------------------------------------------- */

/* An order of account 7 with id A1, in a slot of ring 1. */
static void put_command(const struct poison_page *page, uint16_t slot)
{
    struct command *command =
        (void *)((uint8_t *)poison_page_ring(page, 1) + (size_t)slot * MESSAGE_SLOT_BYTES);

    *command = (struct command){ .code = REQUEST_place_limit_order,
                                 .kind = COMMAND_SIGNED,
                                 .payload_bytes = PAYLOAD_BYTES,
                                 .key_bytes = 32,
                                 .slot_count = 2 };
    memset(command->bytes, 0x5A, PAYLOAD_BYTES);
    memset(command->bytes + REQUEST_HEADER_BYTES, 0xA1, 16);
    cc_store64(command->bytes + REQUEST_BODY_AT, 7);
    memset(command->bytes + PAYLOAD_BYTES, 0xC3, 32 + 64);
}

static void set_mark(const struct poison_page *page, uint64_t place, uint64_t number)
{
    fault_begin(poison_page_mark(page), place);
    atomic_store_explicit(&poison_page_mark(page)->faulted, number, memory_order_relaxed);
}

/* Leaves a page as a process does that ends: with its file. Then opens it anew and reads. */
static bool left(uint64_t place, uint64_t number, uint16_t slot, struct poison_fault *fault)
{
    struct poison_page page;

    CHECK(poison_page_open(&page, folder, exchange_id) == 0);
    CHECK(poison_page_map(&page, RINGS, SLOTS, RUN) == 0);
    put_command(&page, slot);
    set_mark(&page, place, number);
    poison_page_close(&page, false);
    CHECK(poison_page_open(&page, folder, exchange_id) == 0);
    bool found = poison_page_read(&page, fault);
    poison_page_close(&page, true);
    return found;
}

static void test_fault(void)
{
    static struct poison_fault fault;
    const uint8_t id[16] = { 0xA1, 0xA1, 0xA1, 0xA1, 0xA1, 0xA1, 0xA1, 0xA1,
                             0xA1, 0xA1, 0xA1, 0xA1, 0xA1, 0xA1, 0xA1, 0xA1 };

    CHECK(left(fault_location_slot(1, SLOT), SIGSEGV, SLOT, &fault));
    CHECK(fault.code == 0 && fault.has_id && fault.from_ring && fault.signal == SIGSEGV);
    CHECK(fault.run == RUN && fault.account == 7 && memcmp(fault.id, id, 16) == 0);
    CHECK(fault.payload_bytes == PAYLOAD_BYTES && fault.payload[0] == 0x5A);
    for (size_t i = PAYLOAD_BYTES; i < sizeof fault.payload; i++)
        CHECK(fault.payload[i] == 0); /* neither key nor signature */

    CHECK(left(fault_location_slot(1, SLOTS - 1), SIGFPE, SLOTS - 1,
               &fault)); /* runs into the tail */
    CHECK(fault.code == 0 && fault.account == 7);
    CHECK(!left(fault_location_slot(1, SLOT), 0, SLOT, &fault)); /* not marked: kill -9, power */
    CHECK(left(fault_location_code(REQUEST_tick), SIGABRT, SLOT, &fault));
    CHECK(fault.code == REQUEST_tick && !fault.has_id && !fault.from_ring);
    /* Whatever stands there: bounded, and told as unknown. */
    const uint64_t places[] = { 0,
                                1,
                                fault_location_slot(1, SLOT + 1),
                                fault_location_slot(0, SLOT),
                                fault_location_slot(RINGS, SLOT),
                                fault_location_slot(1, SLOTS),
                                fault_location_slot(1, UINT32_MAX),
                                fault_location_slot(INT32_MAX >> 1, SLOT),
                                fault_location_code(999),
                                UINT64_MAX };
    for (size_t i = 0; i < CC_COUNT(places); i++)
        CHECK(left(places[i], SIGABRT, SLOT, &fault) && fault.code == POISON_CODE_UNKNOWN &&
              !fault.has_id && fault.payload_bytes == 0);
}

static void test_page_file(void)
{
    struct poison_page page, second;
    struct stat status;
    char path[POISON_PATH_BYTES];
    static struct poison_fault fault;

    CHECK(poison_page_open(&page, folder, exchange_id) == 0);
    memcpy(path, page.path, sizeof path);
    CHECK(strstr(path, "/perpd-11223300") != NULL);
    CHECK(poison_page_open(&second, folder, exchange_id) == -EWOULDBLOCK);
    CHECK(poison_page_open(&second, folder, other_id) == 0); /* another exchange is no neighbour */
    poison_page_close(&second, true);
    CHECK(poison_page_map(&page, RINGS, SLOTS, RUN) == 0);
    CHECK(stat(path, &status) == 0 && (status.st_mode & 0777) == 0600);
    CHECK(status.st_blocks * 512 >= status.st_size); /* its room is taken */
    set_mark(&page, fault_location_code(REQUEST_tick), SIGABRT);
    poison_page_close(&page, false);

    /* What another exchange left under this name says nothing here. */
    CHECK(poison_page_open(&page, folder, exchange_id) == 0);
    CHECK(poison_page_read(&page, &fault));
    memset(page.exchange_id, 0x77, sizeof page.exchange_id);
    CHECK(!poison_page_read(&page, &fault));
    poison_page_close(&page, false);
    CHECK(chmod(path, 0640) == 0 && poison_page_open(&page, folder, exchange_id) == -EPERM);
    CHECK(unlink(path) == 0 && symlink("/dev/null", path) == 0);
    CHECK(poison_page_open(&page, folder, exchange_id) == -ELOOP);
    CHECK(unlink(path) == 0 && mkdir(path, 0700) == 0);
    CHECK(poison_page_open(&page, folder, exchange_id) == -EISDIR);
    CHECK(rmdir(path) == 0);
    if (geteuid() == 0) { /* another user's */
        int file = open(path, O_CREAT | O_RDWR, 0600);
        CHECK(file >= 0 && fchown(file, 1, 1) == 0 && close(file) == 0);
        CHECK(poison_page_open(&page, folder, exchange_id) == -EPERM && unlink(path) == 0);
    }
    CHECK(poison_page_open(&page, "/nowhere", exchange_id) == -ENOENT);
}

/* ---- its folder ------------------------------------------------------------------------------ */

static int chosen(struct run_folder *run, const struct run_places *places, const char *name)
{
    static const uint8_t secret[HASH_KEY_BYTES] = { 0x51, 0x52 };
    int failed = run_folder_open(run, places, secret);

    CHECK(strncmp(run->path, folder, sizeof folder - 1) == 0);
    CHECK(name == NULL || strcmp(run->path + sizeof folder - 1, name) == 0);
    return failed;
}

static void test_run_folder(void)
{
    static struct run_folder run, other;
    static const uint8_t other_secret[HASH_KEY_BYTES] = { 0x51, 0x53 };
    char option[64], manager[64], user[64], user_perpd[72];
    struct run_places places = { .memory = folder };
    struct stat status;

    /* In a folder for everybody: private, found again, and of this secret only. */
    CHECK(chosen(&run, &places, NULL) == 0);
    CHECK(strlen(run.path) == sizeof folder - 1 + strlen("/perpd-") + 32);
    CHECK(stat(run.path, &status) == 0 && (status.st_mode & 07777) == 0700);
    CHECK(chosen(&other, &places, run.path + sizeof folder - 1) == 0);
    CHECK(run_folder_open(&other, &places, other_secret) == 0);
    CHECK(strcmp(other.path, run.path) != 0);
    run_folder_close(&other);
    CHECK(stat(other.path, &status) != 0);
    CHECK(chmod(run.path, 0720) == 0 && chosen(&other, &places, NULL) == -EPERM);
    CHECK(chmod(run.path, 0702) == 0 && chosen(&other, &places, NULL) == -EPERM);
    if (geteuid() == 0) {
        CHECK(chmod(run.path, 0700) == 0 && chown(run.path, 1, 1) == 0);
        CHECK(chosen(&other, &places, NULL) == -EPERM);
    }
    CHECK(rmdir(run.path) == 0 && symlink(folder, run.path) == 0);
    CHECK(chosen(&other, &places, NULL) == -ENOTDIR && unlink(run.path) == 0);

    /* The other places, last first: each goes before those above. */
    snprintf(user, sizeof user, "%s/user", folder);
    snprintf(user_perpd, sizeof user_perpd, "%s/perpd", user);
    places.user = user;
    places.system = "/nowhere";
    CHECK(mkdir(user, 0777) == 0 && chmod(user, 0777) == 0);
    CHECK(chosen(&run, &places, NULL) == 0 && strstr(run.path, "/user") == NULL); /* not trusted */
    run_folder_close(&run);
    CHECK(chmod(user, 0700) == 0 && chosen(&run, &places, "/user/perpd") == 0);
    run_folder_close(&run); /* it stays */
    places.system = user;
    CHECK(chosen(&run, &places, "/user") == 0);
    places.manager = strcat(strcpy(manager, user_perpd), ":/nowhere");
    CHECK(chosen(&run, &places, "/user/perpd") == 0);
    places.option = strcat(strcpy(option, folder), "/option");
    CHECK(chosen(&run, &places, "/option") == 0);
    CHECK(stat(option, &status) == 0 && (status.st_mode & 07777) == 0700);
    places.option = "/nowhere/at/all";
    CHECK(run_folder_open(&run, &places, other_secret) == -ENOENT);
    CHECK(rmdir(option) == 0 && rmdir(user_perpd) == 0 && rmdir(user) == 0);
    places = (struct run_places){ .manager = "/nowhere", .memory = folder };
    CHECK(run_folder_open(&run, &places, other_secret) == -ENOENT); /* no other place instead */
}

int main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    test_format();
    test_foreign_format();
    test_entries();
    test_no_file();
    test_store();
    test_fault();
    test_page_file();
    test_run_folder();
    CHECK(rmdir(folder) == 0);
    return 0;
}
