/* frame_reader gives the frames as they lie in the files, each that is released and no other, whole
 * or in pieces; journal_seal begins a segment with the next frame (journal.md, Backup). */
#include <errno.h>

#include "check.h"
#include "store/archive.h"
#include "store/archive_reader.h"
#include "store_run.h"
#include "support/sim/disk_sim.h"

enum { ROOM = 1 << 16, RECORDS = 200, PAYLOAD = 40 };

static struct store_model model;
static struct store_run run;
static struct frame_reader reader;
static uint8_t out[ROOM], want[ROOM];

static void begin(struct disk *disk)
{
    struct store_options options = store_run_options();

    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    CHECK(segment_pool_fill(run.pool, 0) >= 0);
    memset(&reader, 0, sizeof reader);
    CHECK(frame_reader_init(&reader, run.journal) == 0);
}

static struct disk *open_world(uint64_t seed, uint32_t latency_max)
{
    const struct disk_sim_config config = { .seed = seed,
                                            .block_bytes = 512,
                                            .latency_max = latency_max };
    struct disk *disk = disk_sim_create(&config);

    CHECK(disk != NULL);
    memset(&model, 0, sizeof model);
    model.random = seed;
    begin(disk);
    return disk;
}

static void end(void)
{
    frame_reader_free(&reader);
    store_run_end(&run);
}

static void write_records(int count)
{
    for (int i = 0; i < count; i++) {
        CHECK(store_run_publish(&run, PAYLOAD));
        CHECK(store_run_settle(&run, 1000) == 0);
    }
}

/* One search to its end. */
static int find(uint64_t from, uint32_t skip, uint32_t capacity, struct frame_stretch *found)
{
    struct frame_cursor cursor = frame_reader_begin(&reader, from);
    int result = 0;

    for (int steps = 0; result == 0 && steps < 100; steps++)
        result = frame_reader_step(&reader, &cursor, skip, out, capacity, found);
    return result;
}

/* The record of a sequence; each is alone in its frame. */
static int find_record(uint64_t sequence, struct frame_record *found)
{
    struct frame_cursor cursor = { .from = sequence };
    int result = 0;

    for (int steps = 0; result == 0 && steps < 100; steps++)
        result = frame_reader_record(&reader, &cursor, found);
    return result;
}

/* It is that of frame `number`, and equal to what lies there. */
static void check_record(uint64_t number)
{
    struct frame_records records;
    struct frame_stretch stretch;
    struct frame_header header;
    struct frame_record found;
    struct record_view record;
    uint8_t hash[HASH_BYTES];
    uint64_t sequence;

    CHECK(find(number, 0, 512, &stretch) == 1 && stretch.bytes == 512);
    CHECK(find_record(number, &found) == 1);
    CHECK(found.frame == number && found.segment == stretch.segment);
    CHECK(frame_decode(&header, out, 512, run.exchange.journal_id, found.segment, 512) == 0);
    frame_records_begin(&records, &header, out);
    CHECK(frame_records_next(&records, &record, &sequence) == 1 && sequence == number);
    CHECK(record.t_ns == found.record.t_ns && record.kind == found.record.kind);
    CHECK(record.payload_bytes == found.record.payload_bytes);
    CHECK(memcmp(record.payload, found.record.payload, record.payload_bytes) == 0);
    hash_blake2b256(hash, out, 512);
    CHECK(memcmp(hash, found.frame_hash, sizeof hash) == 0);
}

/* What was given is what lies there: frames that follow each other from `from` on. */
static void check_stretch(const struct disk *disk, const struct frame_stretch *found, uint64_t from)
{
    char path[DISK_PATH_BYTES];
    uint64_t number = from;

    segment_path(path, found->segment, true);
    disk_sim_peek(disk, path, found->offset, want, found->bytes);
    CHECK(memcmp(out, want, found->bytes) == 0);
    CHECK(found->first_frame == from && found->block_bytes == 512);
    for (uint32_t at = 0; at < found->bytes; number++) {
        struct frame_header header;
        CHECK(frame_decode(&header, out + at, found->bytes - at, run.exchange.journal_id,
                           found->segment, 512) == 0);
        CHECK(header.number == number && header.last_sequence <= journal_durable_seq(run.journal));
        at += header.length;
        CHECK(at != found->bytes || header.last_sequence == found->last_sequence);
    }
    CHECK(found->last_frame == number - 1);
}

/* All frames in a row, each alone without a hint of where it is, and one in pieces. */
static void all_of_them(void)
{
    struct disk *disk = open_world(1, 1);
    struct frame_stretch found;
    uint64_t from = 1, stretches = 0;

    write_records(RECORDS);
    CHECK(journal_counters(run.journal).segments > 3);
    for (;; from = found.last_frame + 1, stretches++) {
        CHECK(find(from, 0, ROOM, &found) == 1);
        if (found.bytes == 0)
            break;
        check_stretch(disk, &found, from);
    }
    CHECK(from == RECORDS + 1 && stretches >= journal_counters(run.journal).segments);
    for (uint64_t n = RECORDS; n >= 1; n--) {
        reader.next = 0;
        CHECK(find(n, 0, 512, &found) == 1 && found.bytes == 512 && found.last_frame == n);
        check_stretch(disk, &found, n);
    }
    uint8_t whole[512];
    memcpy(whole, out, sizeof whole);
    for (uint32_t skip = 0; skip < 512; skip += 100) {
        CHECK(find(1, skip, 100, &found) == 1);
        CHECK(found.bytes == (skip == 500 ? 12 : 100) && found.first_length == 512);
        CHECK(memcmp(out, whole + skip, found.bytes) == 0);
    }
    CHECK(find(1, 512, 100, &found) == -ERANGE);
    CHECK(find(RECORDS + 2, 0, ROOM, &found) == 1 && found.bytes == 0);
    for (uint64_t n = RECORDS; n >= 1; n--)
        check_record(n);
    for (uint64_t n = 1; n <= RECORDS; n += 3)
        check_record(n);
    CHECK(find_record(RECORDS + 1, &(struct frame_record){ 0 }) == -ENOENT);
    /* Two frames do not fit: one is given, and never a part of the second. */
    CHECK(find(1, 0, 1000, &found) == 1 && found.bytes == 512);
    end();
    disk_sim_destroy(disk);
}

/* Not what is under way, nor the closing frame before the end; that of an earlier boot is. */
static void released_alone(void)
{
    struct disk *disk = open_world(2, 0);
    struct frame_stretch found;

    CHECK(store_run_publish(&run, PAYLOAD));
    CHECK(store_run_step(&run) > 0);
    CHECK(find(1, 0, ROOM, &found) == 1 && found.bytes == 0);
    CHECK(find_record(1, &(struct frame_record){ 0 }) == -ENOENT);
    disk_sim_complete(disk, 0);
    CHECK(store_run_step(&run) > 0);
    CHECK(journal_durable_seq(run.journal) == 1);
    CHECK(find(1, 0, ROOM, &found) == 1 && found.bytes == 512);
    CHECK(find_record(1, &(struct frame_record){ 0 }) == 1);
    end();
    disk_sim_destroy(disk);

    disk = open_world(3, 1);
    write_records(3);
    CHECK(find(4, 0, ROOM, &found) == 1 && found.bytes == 0);
    CHECK(store_run_stop(&run) == 0);
    CHECK(find(4, 0, ROOM, &found) == 1 && found.last_frame == 4 && found.last_sequence == 3);
    end();
    model.acknowledged = model.published;
    disk_sim_kill(disk, 3);
    begin(disk);
    write_records(1);
    CHECK(find(4, 0, ROOM, &found) == 1 && found.last_frame == 5 && found.last_sequence == 4);
    struct frame_record record;
    CHECK(find_record(4, &record) == 1 && record.frame == 5); /* behind a closing frame */
    end();
    disk_sim_destroy(disk);
}

/* A segment that was retired: its frames are the archive's, also for a cursor that stood in it. */
static void retired(void)
{
    struct disk *disk = open_world(4, 1);
    struct frame_stretch found;

    write_records(RECORDS);
    CHECK(find(1, 0, 512, &found) == 1 && found.segment == 0);
    CHECK(find_record(1, &(struct frame_record){ 0 }) == 1);
    CHECK(disk_remove(disk, "journal/0000000000.seg") == 0);
    CHECK(find(1, 0, ROOM, &found) == -ENOENT);
    CHECK(find(2, 0, ROOM, &found) == -ENOENT); /* the hint names that segment */
    CHECK(find_record(1, &(struct frame_record){ 0 }) == -ENOENT);
    CHECK(find_record(RECORDS, &(struct frame_record){ 0 }) == 1);
    CHECK(find(RECORDS, 0, ROOM, &found) == 1 && found.last_frame == RECORDS);
    end();
    disk_sim_destroy(disk);
}

enum { BIG = 1 << 21, BIG_RECORDS = 1600, SPARSE = 37 };

static struct archive_reader archives;

/* One search to its end; *steps of it were not the last. */
static int find_archived(uint64_t sequence, struct frame_record *found, int *steps)
{
    int result = 0;

    for (*steps = 0; result == 0; ++*steps) {
        CHECK(*steps < 100);
        result = archive_reader_record(&archives, sequence, found);
    }
    return result;
}

/* What the journal said of a record before its segment went. */
struct told {
    uint64_t frame, segment;
    uint8_t hash[HASH_BYTES];
    uint8_t payload[RECORD_PAYLOAD_MAX];
};

static void check_told(uint64_t sequence, const struct told *told)
{
    struct frame_record found;
    int steps;

    CHECK(find_archived(sequence, &found, &steps) == 1);
    CHECK(found.frame == told->frame && found.segment == told->segment);
    CHECK(memcmp(found.frame_hash, told->hash, sizeof told->hash) == 0);
    CHECK(found.record.t_ns == sequence && found.record.payload_bytes > PAYLOAD);
    CHECK(memcmp(found.record.payload, told->payload, found.record.payload_bytes) == 0);
}

/* Writes BIG_RECORDS, archives the segments below the last, and removes them from the journal. The
 * number of records in those. */
static uint64_t archive_all(struct disk *disk, struct told *told)
{
    struct archive archive = { 0 };
    char path[DISK_PATH_BYTES];
    struct frame_record found;

    for (uint64_t n = 1; n <= BIG_RECORDS; n++) {
        CHECK(store_run_publish(&run, n % 3 == 0 ? PAYLOAD + 8 : RECORD_PAYLOAD_MAX));
        CHECK(store_run_settle(&run, 1000) == 0);
        CHECK(find_record(n, &found) == 1);
        told[n].frame = found.frame;
        told[n].segment = found.segment;
        memcpy(told[n].hash, found.frame_hash, sizeof told[n].hash);
        memcpy(told[n].payload, found.record.payload, found.record.payload_bytes);
    }
    const uint64_t open = journal_written_segment(run.journal);
    CHECK(open >= 2);
    for (uint64_t segment = 0; segment < open; segment++) {
        CHECK(archive_store(&archive, disk, &run.exchange, segment, BIG) == 0);
        segment_path(path, segment, true);
        CHECK(disk_remove(disk, path) == 0);
    }
    const uint64_t last = archive.rows[open - 1].last_sequence;
    archive_close(&archive);
    return last;
}

/* Turns bits of a byte. */
static void flip(struct disk *disk, const char *path, uint64_t at)
{
    uint8_t byte;

    disk_sim_peek(disk, path, at, &byte, 1);
    byte ^= 4;
    disk_sim_poke(disk, path, at, &byte, 1);
}

/* Each record of segment 0 is found whole or, `may_fail`, refused. The number of those. */
static uint64_t check_first(const struct told *told, bool may_fail)
{
    struct frame_record found;
    uint64_t refused = 0;
    int steps;

    for (uint64_t n = 1; told[n].segment == 0; n++) {
        int result = find_archived(n, &found, &steps);
        if (result == 1)
            check_told(n, &told[n]);
        else
            CHECK(may_fail && result == -EBADMSG && ++refused);
    }
    return refused;
}

/* Each place is wrong in another segment, somewhere: every record is found. */
static void wrong_elsewhere(struct disk *disk, struct disk *copy, const struct told *told,
                            uint64_t last)
{
    const char *first = "archive/0000000000.seg.zst", *next = "archive/0000000001.seg.zst";
    uint64_t bytes = disk_sim_file_bytes(disk, first), end = 1;

    while (told[end + 1].segment == 0)
        end++;
    for (uint64_t at = 0; at < bytes; at += bytes / 20)
        for (int i = 0; i < 2; i++) {
            struct disk *one = i == 0 ? disk : copy, *other = i == 0 ? copy : disk;

            flip(one, first, at);
            flip(other, next, at / 2);
            for (uint64_t n = 1; n <= last; n = n == last ? n + 1 : n + 150 > last ? last : n + 150)
                check_told(n, &told[n]);
            check_told(end, &told[end]);
            check_told(end + 1, &told[end + 1]);
            flip(other, next, at / 2);
            flip(one, first, at);
        }
}

/* A bit changed: what stands there is refused, the rest is what it was; with a second place that
 * has the file, nothing is refused, wherever the bit is. */
static void damaged(struct disk *disk, const struct told *told, uint64_t last)
{
    const char *path = "archive/0000000000.seg.zst", *next = "archive/0000000001.seg.zst";
    uint64_t middle = disk_sim_file_bytes(disk, path) / 2;
    struct disk *copy = disk_sim_copy(disk);
    struct frame_record found;
    int steps;

    CHECK(copy != NULL && middle > ARCHIVE_READER_FILE_BYTES);
    flip(disk, path, middle);
    CHECK(check_first(told, true) > 0);
    check_told(last, &told[last]);
    uint64_t after = 1;
    while (told[after].segment == 0)
        after++;
    check_told(1, &told[1]); /* the next search begins in the file that is damaged further on */
    check_told(after, &told[after]);
    disk->archive_copy = copy;
    CHECK(check_first(told, false) == 0);
    flip(disk, path, middle);
    wrong_elsewhere(disk, copy, told, last);
    flip(disk, path, middle);
    CHECK(disk_remove(copy, next) == 0); /* each lacks what the other has */
    CHECK(check_first(told, false) == 0);
    for (uint64_t at = 0; at < 200; at += 7) {
        flip(disk, path, at);
        check_told(2, &told[2]);
        check_told(last, &told[last]);
        flip(disk, path, at);
    }
    flip(copy, path, middle);
    CHECK(check_first(told, true) > 0); /* both are wrong */
    flip(copy, path, middle);
    CHECK(disk_remove(disk, path) == 0);
    CHECK(check_first(told, false) == 0);
    check_told(last, &told[last]);
    disk->archive_copy = NULL;
    CHECK(find_archived(1, &found, &steps) == -ENOENT); /* pruned */
    check_told(last, &told[last]);
    disk_sim_destroy(copy);
}

static int64_t fail_read(struct disk *disk, int file, uint64_t offset, void *bytes, size_t count)
{
    (void)disk, (void)file, (void)offset, (void)bytes, (void)count;
    return -EIO;
}

static int fail_open(struct disk *disk, const char *path, unsigned flags)
{
    (void)disk, (void)path, (void)flags;
    return -EIO;
}

/* A file that cannot be read is neither wrong nor pruned, also where the second place lacks it. */
static void unreadable(struct disk *disk)
{
    const struct disk_ops *ops = disk->ops;
    struct disk_ops failing = *ops;
    struct disk *copy = disk_sim_copy(disk);
    struct frame_record found;
    int steps;

    CHECK(copy != NULL && disk_remove(copy, "archive/0000000000.seg.zst") == 0);
    CHECK(find_archived(UINT64_MAX, &found, &steps) == -ENOENT); /* the next begins anywhere */
    disk->ops = &failing;
    failing.read = fail_read;
    CHECK(find_archived(2, &found, &steps) == -EIO);
    failing.read = ops->read;
    failing.open = fail_open;
    disk->archive_copy = copy;
    CHECK(find_archived(2, &found, &steps) == -EIO);
    disk->archive_copy = NULL;
    disk->ops = ops;
    CHECK(find_archived(2, &found, &steps) == 1);
    disk_sim_destroy(copy);
}

/* Records of the archive, in any order, are what they were in the journal; searches at a time, a
 * file that is damaged, and what it does not have. */
static void archived(void)
{
    static struct told told[BIG_RECORDS + 1];
    struct store_options options = store_run_options();
    const struct disk_sim_config config = { .seed = 6, .block_bytes = 512, .latency_max = 1 };
    struct disk *disk = disk_sim_create(&config);
    struct frame_record found;
    int steps;

    CHECK(disk != NULL);
    memset(&model, 0, sizeof model);
    model.random = 6;
    model.is_dense = true;
    options.segment_bytes = BIG;
    CHECK(store_run_begin(&run, disk, &model, &options) == REFUSAL_none);
    CHECK(segment_pool_fill(run.pool, 0) >= 0);
    memset(&reader, 0, sizeof reader);
    CHECK(frame_reader_init(&reader, run.journal) == 0);
    CHECK(archive_reader_init(&archives, disk, &run.exchange) == 0);
    CHECK(find_archived(1, &found, &steps) == -ENOENT); /* there is none yet */
    uint64_t last = archive_all(disk, told);

    for (uint64_t n = last; n >= 1; n = n > SPARSE ? n - SPARSE : 0)
        check_told(n, &told[n]);
    for (uint64_t n = 1; n <= last; n++)
        check_told(n, &told[n]);
    CHECK(find_archived(last + 1, &found, &steps) == -ENOENT);
    CHECK(find_record(last + 1, &found) == 1);
    CHECK(find_record(last, &found) == -ENOENT);

    /* No step unpacks a whole file; another's search is moved on, and each has its own record. */
    archive_reader_drop(&archives, 0);
    CHECK(archive_reader_record(&archives, 2, &found) == 0);
    int turns = 0;
    while (archive_reader_record(&archives, last - 1, &found) == 0 && ++turns < 10)
        ;
    CHECK(turns == 10);
    CHECK(archive_reader_record(&archives, 2, &found) == 1 && found.record.t_ns == 2);
    check_told(last - 1, &told[last - 1]);
    CHECK(archive_reader_record(&archives, 2, &found) == 0);
    archive_reader_drop(&archives, 2);
    CHECK(find_archived(last - 1, &found, &steps) == 1 && steps >= 2);

    unreadable(disk);
    damaged(disk, told, last);
    archive_reader_free(&archives);
    end();
    disk_sim_destroy(disk);
}

/* The pool prepares what it can. */
static void prepare(void)
{
    for (int i = 0; i < 20; i++)
        CHECK(store_run_step(&run) >= 0);
}

/* The next frame begins a segment, once for each wish, but not while the open one has none. */
static void sealed(void)
{
    struct disk *disk = open_world(5, 1);
    struct frame_stretch found;

    journal_seal(run.journal); /* the open segment has no frame: the second frame begins one */
    prepare();
    write_records(1);
    CHECK(journal_written_segment(run.journal) == 0);
    prepare();
    write_records(1);
    CHECK(journal_written_segment(run.journal) == 1);
    prepare();
    write_records(2);
    CHECK(journal_written_segment(run.journal) == 1);
    journal_seal(run.journal);
    prepare();
    CHECK(journal_written_segment(run.journal) == 1);
    write_records(1);
    CHECK(journal_written_segment(run.journal) == 2);
    for (uint64_t n = 1; n <= 5; n++) {
        CHECK(find(n, 0, 512, &found) == 1);
        CHECK(found.segment == (n < 2 ? 0 : n < 5 ? 1 : 2) && found.bytes == 512);
        check_stretch(disk, &found, n);
    }
    CHECK(store_run_stop(&run) == 0);
    end();
    model.acknowledged = model.published;
    disk_sim_kill(disk, 5);
    begin(disk); /* a start takes the chain across segments that have room */
    CHECK(run.applied == 5);
    end();
    disk_sim_destroy(disk);
}

int main(void)
{
    all_of_them();
    released_alone();
    retired();
    archived();
    sealed();
    return 0;
}
