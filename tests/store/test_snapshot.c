/* Snapshot files (journal.md, Snapshot; its table is read by hand in test_snapshot_format.py): what
 * was written is read, anything else is no snapshot; crashes and faults at every call. */
#include <errno.h>

#include "base/crc32c.h"
#include "check.h"
#include "store/chain.h"
#include "store/snapshot.h"
#include "store_run.h"
#include "support/sim/disk_sim.h"

enum { SMALL = 1, LARGE = 2 }; /* two states */

static struct exchange_file exchange;
static struct store_model model;

static struct disk *disk_new(uint64_t bytes_max)
{
    struct disk_sim_config config = {
        .seed = 3, .block_bytes = 512, .latency_max = 2, .bytes_max = bytes_max
    };
    struct disk *disk = disk_sim_create(&config);
    struct refusal refusal;
    bool is_new;

    CHECK(disk);
    CHECK(exchange_file_open(disk, NULL, &exchange, &is_new, &refusal) == REFUSAL_none);
    return disk;
}

static void fill(uint8_t *out, size_t count, unsigned state)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (uint8_t)(i * 7 + (i >> 8) + state);
}

static const uint32_t codes[] = { 1, 3, 900 };

/* The sections of a state: some bytes, none, and more than the writer's buffer if it is large. */
static size_t section_bytes(unsigned state, int section)
{
    const size_t large[] = { 77, 0, (1 << 20) + 12345 };
    const size_t small[] = { 61, 0, 300 };

    return state == LARGE ? large[section] : small[section];
}

static uint8_t scratch[2 << 20];

static int put(struct disk *disk, uint64_t sequence, unsigned state, struct snapshot_head *head)
{
    struct snapshot_writer *writer = snapshot_begin(disk, &exchange, sequence);

    CHECK(writer);
    for (int i = 0; i < 3; i++) {
        size_t count = section_bytes(state, i);

        fill(scratch, count, state + (unsigned)i);
        snapshot_section_begin(writer, codes[i], state);
        for (size_t at = 0; at < count;) { /* in pieces of every size */
            size_t piece = at % 4099 + 1;

            piece = piece > count - at ? count - at : piece;
            snapshot_bytes(writer, scratch + at, piece);
            at += piece;
        }
    }
    *head = (struct snapshot_head){ .sequence = sequence,
                                    .frame = sequence / 2 + 1,
                                    .t_ns = 1000 + state,
                                    .boot = 4,
                                    .rules_version = 9 };
    memset(head->effects_hash, 0xE0, HASH_BYTES);
    memset(head->frame_hash, 0xF0 + (int)state, HASH_BYTES);
    return snapshot_end(writer, head);
}

/* Reads the snapshot of a sequence: the state that it holds, or -errno. */
static int get(struct disk *disk, uint64_t sequence)
{
    struct snapshot snapshot;
    int error = snapshot_read(disk, &exchange, sequence, &snapshot, NULL);

    if (error < 0)
        return error;
    unsigned state = snapshot.sections[0].version;

    CHECK(snapshot.head.sequence == sequence && snapshot.head.frame == sequence / 2 + 1);
    CHECK(snapshot.head.section_count == 3 && snapshot.head.t_ns == 1000 + state);
    CHECK(snapshot.head.boot == 4 && snapshot.head.rules_version == 9);
    CHECK(snapshot.head.effects_hash[31] == 0xE0 && snapshot.head.frame_hash[0] == 0xF0 + state);
    for (int i = 0; i < 3; i++) {
        const struct snapshot_section *section = &snapshot.sections[i];

        CHECK(section->code == codes[i] && section->version == state);
        CHECK(section->byte_count == section_bytes(state, i));
        fill(scratch, section->byte_count, state + (unsigned)i);
        CHECK(memcmp(scratch, section->bytes, section->byte_count) == 0);
    }
    snapshot_close(&snapshot);
    return (int)state;
}

static void round_trip(void)
{
    struct disk *disk = disk_new(0);
    struct snapshot_head written;
    struct snapshot_head read;
    uint64_t sequences[4];
    uint8_t hash[HASH_BYTES];
    struct hash_state all;

    CHECK(snapshot_list(disk, sequences, 4) == 0);
    CHECK(put(disk, 100, LARGE, &written) == 0);
    CHECK(put(disk, 99, SMALL, &written) == 0);
    CHECK(get(disk, 100) == LARGE && get(disk, 99) == SMALL);
    CHECK(get(disk, 98) == -ENOENT);
    CHECK(written.image_bytes == 361 && written.section_count == 3);
    CHECK(disk_sim_file_bytes(disk, "snapshot/99.snap") == 4096 + 361);
    hash_begin(&all); /* of the sections' bytes in order */
    for (int i = 0; i < 3; i++) {
        fill(scratch, section_bytes(SMALL, i), SMALL + (unsigned)i);
        hash_add(&all, scratch, section_bytes(SMALL, i));
    }
    hash_end(&all, hash);
    CHECK(memcmp(hash, written.image_hash, sizeof hash) == 0);
    CHECK(snapshot_read_head(disk, &exchange, 99, &read, NULL) == 0);
    CHECK(memcmp(&read, &written, sizeof read) == 0);

    CHECK(put(disk, 100, SMALL, &written) == 0); /* in the place of another */
    CHECK(get(disk, 100) == SMALL);
    CHECK(snapshot_remove(disk, 100) == 0);
    CHECK(get(disk, 100) == -ENOENT && snapshot_remove(disk, 100) == -ENOENT);
    disk_sim_destroy(disk);
}

static void file_put(struct disk *disk, const char *path, const uint8_t *bytes, size_t count)
{
    int file = disk_open(disk, path, DISK_CREATE);

    CHECK(file >= 0 && disk_write(disk, file, 0, bytes, count) == 0);
    disk_close(disk, file);
}

/* Newest first, the newest ones if there are too many; names that perpd does not give are others'.
 * A `.part` never counts. */
static void names(void)
{
    static const char *const files[] = { "7.snap",
                                         "10.snap",
                                         "9.snap",
                                         "18446744073709551615.snap",
                                         "18446744073709551616.snap",
                                         "99999999999999999999.snap",
                                         "0.snap",
                                         "012.snap",
                                         ".snap",
                                         "12.snap.part",
                                         "13.snap.part",
                                         "14.part",
                                         "15.snapx",
                                         "16",
                                         "-17.snap",
                                         "8x.snap" };
    struct disk *disk = disk_new(0);
    uint64_t sequences[8];

    for (size_t i = 0; i < CC_COUNT(files); i++) {
        char path[DISK_PATH_BYTES];

        snprintf(path, sizeof path, "snapshot/%s", files[i]);
        file_put(disk, path, (const uint8_t *)"x", 1);
    }
    CHECK(snapshot_list(disk, sequences, 8) == 4);
    CHECK(sequences[0] == UINT64_MAX && sequences[1] == 10);
    CHECK(sequences[2] == 9 && sequences[3] == 7);
    CHECK(snapshot_list(disk, sequences, 2) == 2);
    CHECK(sequences[0] == UINT64_MAX && sequences[1] == 10);
    CHECK(snapshot_list(disk, sequences, 1) == 1 && sequences[0] == UINT64_MAX);
    CHECK(snapshot_remove_part(disk, 12) == 0);
    CHECK(!disk_sim_exists(disk, "snapshot/12.snap.part"));
    CHECK(snapshot_remove_parts(disk) == 0);
    CHECK(!disk_sim_exists(disk, "snapshot/13.snap.part"));
    CHECK(disk_sim_exists(disk, "snapshot/14.part") && disk_sim_exists(disk, "snapshot/7.snap"));
    disk_sim_destroy(disk);
}

/* Each bit of a small snapshot flipped, the file cut at each byte, one byte more: no snapshot. */
static void bit_rot(void)
{
    struct disk *disk = disk_new(0);
    const char *path = "snapshot/50.snap";
    struct snapshot_head head;
    uint8_t bytes[8192];
    size_t count;

    CHECK(put(disk, 50, SMALL, &head) == 0);
    count = disk_sim_file_bytes(disk, path);
    disk_sim_peek(disk, path, 0, bytes, count);
    for (size_t i = 0; i < count; i++) {
        for (int bit = 0; bit < 8; bit++) {
            uint8_t wrong = bytes[i] ^ (uint8_t)(1U << bit);

            disk_sim_poke(disk, path, i, &wrong, 1);
            CHECK(get(disk, 50) == -EBADMSG);
        }
        disk_sim_poke(disk, path, i, &bytes[i], 1);
    }
    CHECK(get(disk, 50) == SMALL);
    for (size_t i = 0; i < count; i++) {
        file_put(disk, path, bytes, i);
        CHECK(get(disk, 50) == -EBADMSG);
    }
    bytes[count] = 0;
    file_put(disk, path, bytes, count + 1);
    CHECK(get(disk, 50) == -EBADMSG);
    file_put(disk, "snapshot/51.snap", bytes, count); /* under the name of another sequence */
    CHECK(snapshot_read_head(disk, &exchange, 51, &head, NULL) == -EBADMSG);
    file_put(disk, path, bytes, count);
    CHECK(get(disk, 50) == SMALL);
    printf("snapshot: %zu bytes, each bit and each length refused\n", count);
    disk_sim_destroy(disk);
}

/* journal.md, Data directory: a mixture is refused with exit 3; it is told apart from damage. */
static void foreign(void)
{
    struct disk *disk = disk_new(0);
    struct exchange_file own = exchange;
    struct snapshot_head head;
    struct refusal why;

    for (int i = 0; i < 3; i++) {
        exchange = own;
        exchange.journal_id[15] ^= i == 0;
        exchange.exchange_id[0] ^= i == 1;
        exchange.hash_key[3] ^= i == 2;
        CHECK(put(disk, 8, SMALL, &head) == 0);
        CHECK(get(disk, 8) == SMALL);
        CHECK(snapshot_read_head(disk, &own, 8, &head, &why) == -EXDEV);
        CHECK(why.kind == REFUSAL_snapshot_foreign && refusal_exit_code(why.kind) == 3);
    }
    exchange = own;
    CHECK(snapshot_read_head(disk, &own, 9, &head, &why) == -ENOENT);
    CHECK(why.kind == REFUSAL_machine);
    disk_sim_destroy(disk);
}

/* A file of version 1 by the offsets of journal.md: ids, sequence 77, two sections of 5 and 3. */
static size_t by_hand(uint8_t *out)
{
    uint8_t *table = out + 256;

    memset(out, 0, 4096);
    memcpy(out + 4096, "firstTWO", 8);
    memcpy(out, "perpdSNP", 8);
    cc_store16(out + 8, 1);
    cc_store16(out + 10, 256);
    memcpy(out + 16, exchange.journal_id, 16);
    memcpy(out + 32, exchange.exchange_id, 32);
    memcpy(out + 64, exchange.hash_key, 16);
    cc_store64(out + 80, 77);
    cc_store64(out + 88, 70); /* frame */
    cc_store64(out + 96, 5);
    cc_store64(out + 104, 2);
    cc_store32(out + 112, 1);
    cc_store32(out + 116, 2); /* sections */
    cc_store64(out + 120, 8); /* image_bytes */
    for (uint32_t i = 0; i < 2; i++) {
        cc_store32(table + 32 * i, 4 + i);
        cc_store32(table + 32 * i + 4, 1);
        cc_store64(table + 32 * i + 8, i == 0 ? 4096 : 4101);
        cc_store64(table + 32 * i + 16, i == 0 ? 5 : 3);
        cc_store32(table + 32 * i + 24, i == 0 ? crc32c("first", 5) : crc32c("TWO", 3));
    }
    hash_blake2b256(out + 160, out + 4096, 8);
    return 4096 + 8;
}

/* It is read; and one value changed under checksums that are right makes it no snapshot. */
static void values(void)
{
    static const struct {
        int line;
        const char *name;
        uint32_t offset, bytes;
        uint64_t value;
        int want;
    } rows[] = {
        { __LINE__, "as it is", 88, 8, 70, 0 },
        { __LINE__, "another frame", 88, 8, 71, 0 },
        { __LINE__, "no frame", 88, 8, 0, -EBADMSG },
        { __LINE__, "version 2", 8, 2, 2, -EBADMSG },
        { __LINE__, "a longer header", 10, 2, 260, -EBADMSG },
        { __LINE__, "another sequence", 80, 8, 78, -EBADMSG },
        { __LINE__, "another journal", 16, 8, 1, -EXDEV },
        { __LINE__, "no section", 116, 4, 0, -EBADMSG },
        { __LINE__, "one section", 116, 4, 1, -EBADMSG },
        { __LINE__, "three sections", 116, 4, 3, -EBADMSG },
        { __LINE__, "too many sections", 116, 4, 65, -EBADMSG },
        { __LINE__, "sections beyond all bounds", 116, 4, UINT32_MAX, -EBADMSG },
        { __LINE__, "a byte less", 120, 8, 7, -EBADMSG },
        { __LINE__, "endless", 120, 8, UINT64_MAX, -EBADMSG },
        { __LINE__, "another image hash", 160, 1, 0xA5, -EBADMSG },
        { __LINE__, "the pad of the header", 255, 1, 1, -EBADMSG },
        { __LINE__, "the pad behind the table", 320, 1, 1, -EBADMSG },
        { __LINE__, "the pad of a row", 284, 4, 1, -EBADMSG },
        { __LINE__, "codes that fall", 256, 4, 5, -EBADMSG },
        { __LINE__, "a section elsewhere", 264, 8, 4097, -EBADMSG },
        { __LINE__, "a section that is longer", 272, 8, 6, -EBADMSG },
        { __LINE__, "a section beyond the file", 304, 8, UINT64_MAX - 4, -EBADMSG },
        { __LINE__, "the checksum of a section", 280, 4, 1, -EBADMSG },
        { __LINE__, "another code", 256, 4, 3, 0 },
        { __LINE__, "another version of a section", 292, 4, 9, 0 },
    };
    struct disk *disk = disk_new(0);

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        uint8_t bytes[4096 + 8];
        size_t count = by_hand(bytes);
        struct snapshot snapshot;
        uint32_t sections;
        uint8_t value[8];

        cc_store64(value, rows[i].value);
        memcpy(bytes + rows[i].offset, value, rows[i].bytes);
        sections = cc_load32(bytes + 116);
        if (sections > 100)
            sections = 100;
        cc_store32(bytes + 12, crc32c(bytes + 16, 240 + 32 * sections));
        file_put(disk, "snapshot/77.snap", bytes, count);
        CHECK_ROW(&rows[i], snapshot_read(disk, &exchange, 77, &snapshot, NULL) == rows[i].want);
        if (rows[i].want < 0)
            continue;
        CHECK(snapshot.head.sequence == 77 && snapshot.head.section_count == 2);
        CHECK(memcmp(snapshot.sections[0].bytes, "first", 5) == 0);
        CHECK(memcmp(snapshot.sections[1].bytes, "TWO", 3) == 0);
        snapshot_close(&snapshot);
    }
    disk_sim_destroy(disk);
}

/* Calls that change something while a snapshot is written, from the first to the last. */
static uint64_t calls_of(struct disk *disk)
{
    struct disk *copy = disk_sim_copy(disk);
    struct snapshot_head head;
    uint64_t calls;

    disk_sim_fail(copy, 0, DISK_SIM_EIO, false);
    CHECK(put(copy, 20, LARGE, &head) == 0);
    calls = disk_sim_calls(copy);
    disk_sim_destroy(copy);
    return calls;
}

/* What may stand under the name: the old, the new, or nothing if there was no old. */
static void lawful(struct disk *disk, bool had_old, bool done)
{
    uint64_t sequences[4];
    int count = snapshot_list(disk, sequences, 4);
    int state;

    CHECK(count == 1 || (count == 0 && !had_old && !done));
    if (count == 0)
        return;
    CHECK(sequences[0] == 20);
    state = get(disk, 20);
    CHECK(state == LARGE || (state == SMALL && had_old && !done));
}

/* Power loss at every call: the old or the new, and the new once it was promised. */
static void power_loss(void)
{
    uint64_t images = 0;

    for (int had_old = 0; had_old < 2; had_old++) {
        struct disk *disk = disk_new(0);
        struct snapshot_head head;
        uint64_t calls;

        if (had_old)
            CHECK(put(disk, 20, SMALL, &head) == 0);
        calls = calls_of(disk);
        for (uint64_t call = 1; call <= calls + 1; call++) {
            struct disk *half = disk_sim_copy(disk);
            bool done;

            disk_sim_stop_at(half, call);
            done = put(half, 20, LARGE, &head) == 0;
            CHECK(done == (call > calls));
            for (uint64_t seed = 0; seed < 12; seed++, images++) {
                struct disk *copy = disk_sim_copy(half);

                disk_sim_crash(copy, seed);
                lawful(copy, had_old, done);
                disk_sim_destroy(copy);
            }
            disk_sim_destroy(half);
        }
        disk_sim_destroy(disk);
    }
    printf("snapshot: %llu images after a power loss\n", (unsigned long long)images);
}

/* A call that fails: it is told, and what stands is whole; a further try succeeds. */
static void faults(void)
{
    struct disk *disk = disk_new(0);
    struct snapshot_head head;
    uint64_t calls;

    CHECK(put(disk, 20, SMALL, &head) == 0);
    calls = calls_of(disk);
    for (uint64_t call = 1; call <= calls; call++) {
        for (int fault = DISK_SIM_EIO; fault <= DISK_SIM_SHORT; fault++) {
            for (int sticky = 0; sticky < 2; sticky++) {
                struct disk *copy = disk_sim_copy(disk);
                int error;

                disk_sim_fail(copy, call, (enum disk_sim_fault)fault, sticky);
                error = put(copy, 20, LARGE, &head);
                CHECK(error == (fault == DISK_SIM_ENOSPC ? -ENOSPC : -EIO));
                lawful(copy, true, false);
                disk_sim_fail(copy, 0, DISK_SIM_EIO, false);
                if (call & 1)
                    disk_sim_crash(copy, call);
                lawful(copy, true, false);
                CHECK(put(copy, 20, LARGE, &head) == 0);
                CHECK(get(copy, 20) == LARGE);
                disk_sim_destroy(copy);
            }
        }
    }
    disk_sim_destroy(disk);
}

/* A full disk: the unfinished one gives its space back. */
static void full_disk(void)
{
    struct disk *disk = disk_new(1 << 20);
    struct snapshot_head head;

    CHECK(put(disk, 20, SMALL, &head) == 0);
    CHECK(put(disk, 21, LARGE, &head) == -ENOSPC);
    CHECK(!disk_sim_exists(disk, "snapshot/21.snap.part"));
    CHECK(put(disk, 22, SMALL, &head) == 0);
    CHECK(get(disk, 20) == SMALL && get(disk, 22) == SMALL && get(disk, 21) == -ENOENT);
    disk_sim_destroy(disk);
}

/* The tail of the chain as it can be read now. */
static struct journal_position chain_end(struct disk *disk, const struct exchange_file *of)
{
    struct chain_config config = {
        .disk = disk, .exchange = of, .segment_bytes = 32768, .last_segment = UINT64_MAX
    };
    struct journal_position position;
    struct chain_frame frame;
    struct refusal refusal;
    struct chain *chain;
    int found;

    CHECK(chain_open(&chain, &config, &refusal) == REFUSAL_none);
    while ((found = chain_next(chain, &frame)) > 0)
        continue;
    CHECK(found == 0);
    position = chain_position(chain);
    chain_close(chain);
    return position;
}

static int apply_nothing(void *context, uint64_t sequence, uint64_t frame,
                         const struct record_view *record)
{
    (void)context;
    (void)sequence;
    (void)frame;
    (void)record;
    return 0;
}

/* Starts behind the frame that the snapshot of a sequence names. */
static enum refusal_kind start(struct disk *disk, uint64_t sequence, struct recovery_result *result)
{
    struct recovery_config config = { .disk = disk, .segment_bytes = 32768 };
    struct exchange_file own;
    struct snapshot_head head;
    struct refusal refusal;
    bool is_new;

    config.exchange = &own;
    config.apply = apply_nothing;
    CHECK(exchange_file_open(disk, NULL, &own, &is_new, &refusal) == REFUSAL_none);
    CHECK(snapshot_read_head(disk, &own, sequence, &head, NULL) == 0);
    config.after_frame = head.frame;
    memcpy(config.after_hash, head.frame_hash, HASH_BYTES);
    return recovery_run(&config, result, &refusal);
}

/* With durability `none` the journal of which the snapshot speaks could be lost with the power, and
 * the snapshot stay: what it covers is synced before it has its name (decision 43). */
static void covered_first(void)
{
    struct store_options options = store_run_options();
    int lost = 0;

    options.durability = JOURNAL_NONE;
    for (uint64_t seed = 0; seed < 24; seed++) {
        struct disk *disk = disk_new(0);
        struct snapshot_head head = { .boot = 1 };
        struct journal_position position;
        struct recovery_result result;
        struct snapshot_writer *writer;
        struct store_run run;

        disk_sim_kill(disk, 1);
        memset(&model, 0, sizeof model);
        CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
        CHECK(segment_pool_fill(run.pool, 0) >= 0);
        for (int i = 0; i < 24; i++)
            CHECK(store_run_publish(&run, 2000) && store_run_settle(&run, 100) == 0);
        position = chain_end(disk, &run.exchange);
        CHECK(position.tail.last_sequence == 24 && position.segment > 1);

        struct disk *without = disk_sim_copy(disk);
        struct refusal refusal;
        bool is_new;

        writer = snapshot_begin(disk, &run.exchange, 24);
        CHECK(writer);
        snapshot_section_begin(writer, 1, 1);
        head.sequence = position.tail.last_sequence;
        head.frame = position.tail.number;
        memcpy(head.frame_hash, position.tail.hash, HASH_BYTES);
        CHECK(snapshot_end(writer, &head) == 0);
        disk_sim_crash(disk, seed);
        CHECK(start(disk, 24, &result) == REFUSAL_none);
        CHECK(result.position.tail.number == 24 && result.frames == 0);

        /* The same power loss without the snapshot takes frames: the check above can fail. */
        disk_sim_crash(without, seed);
        CHECK(exchange_file_open(without, NULL, &exchange, &is_new, &refusal) == REFUSAL_none);
        lost += chain_end(without, &exchange).tail.number < 24;
        store_run_end(&run);
        disk_sim_destroy(without);
        disk_sim_destroy(disk);
    }
    CHECK(lost > 12);
}

int main(void)
{
    round_trip();
    names();
    bit_rot();
    foreign();
    values();
    power_loss();
    faults();
    full_disk();
    covered_first();
    return 0;
}
