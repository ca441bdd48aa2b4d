/* The state at a place of a journal, from its beginning and from a snapshot (journal.md, Snapshot;
 * roles.md, Effects, Configuration). The journal is written here frame by frame, and every
 * record applied by an engine of the test: its image at each sequence is what a fold must give. */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/config.h"
#include "check.h"
#include "engine/image/image.h"
#include "node/recover/fold.h"
#include "node/recover/replay.h"
#include "node/run/market_file.h"
#include "store/segment.h"
#include "support/sim/disk_sim.h"

enum {
    SEGMENT_BYTES = 16 << 10,
    BLOCK_BYTES = 512,
    FRAME_BYTES = 16 << 10,
    SEQUENCES_MAX = 256,
    ACCOUNTS = 40,
};

#define START_NS UINT64_C(1755582431232000000)

/* A journal in the making and the engine beside it. */
static struct rig {
    struct disk *disk;
    struct exchange_file exchange;
    struct engine *engine;
    void *memory;
    size_t memory_bytes;
    struct frame_tail tail;
    uint64_t segment, offset, t_ns, sequence, accounts;
    uint8_t frame[FRAME_BYTES]; /* of the records that wait */
    uint32_t record_bytes, record_count;
    uint8_t hashes[SEQUENCES_MAX][HASH_BYTES]; /* of the image at each sequence */
    uint64_t frame_ends[SEQUENCES_MAX];        /* by frame number */
    struct refusal refusal;
} rig;

static const char *const small[] = { "fold",
                                     "--engine.accounts=64",
                                     "--engine.portfolios=64",
                                     "--engine.orders=1024",
                                     "--engine.positions=64",
                                     "--engine.credentials=256",
                                     "--engine.deposits=64",
                                     "--engine.ladder_pages=256",
                                     "--limits.duplicate_slots=4096" };

static ptrdiff_t configuration(uint8_t body[CONFIG_ENGINE_TEXT_MAX], const char *accounts,
                               struct option_engine *options)
{
    static struct config config;
    const char *argv[CC_COUNT(small)];
    memcpy(argv, small, sizeof small);
    argv[1] = accounts;
    CHECK(config_load(&config, (int)CC_COUNT(argv), argv, NULL) == CONFIG_RUN);
    ptrdiff_t bytes = config_engine_text(&config, rig.exchange.exchange_id, NULL, body);
    CHECK(bytes > 0 && option_parse_engine(options, body, (size_t)bytes));
    config_free(&config);
    return bytes;
}

static void make_segment(void)
{
    uint8_t head[SEGMENT_FRAMES_OFFSET], zeros[SEGMENT_FRAMES_OFFSET] = { 0 };
    char path[DISK_PATH_BYTES];
    struct segment_header header = segment_header_of(&rig.exchange, rig.segment, 1, BLOCK_BYTES);
    segment_encode(head, &header);
    segment_path(path, rig.segment, true);
    int file = disk_open(rig.disk, path, DISK_CREATE);
    CHECK(file >= 0);
    CHECK(disk_write(rig.disk, file, 0, head, sizeof head) == 0);
    for (uint64_t at = sizeof head; at < SEGMENT_BYTES; at += sizeof zeros)
        CHECK(disk_write(rig.disk, file, at, zeros, sizeof zeros) == 0);
    CHECK(disk_sync(rig.disk, file) == 0);
    disk_close(rig.disk, file);
    CHECK(disk_sync_folder(rig.disk, "journal") == 0);
    rig.offset = SEGMENT_FRAMES_OFFSET;
}

/* The records that wait become a frame on the disk; none: a closing frame. */
static void end_frame(void)
{
    struct frame_header header = {
        .boot = 1,
        .number = rig.tail.number + 1,
        .first_sequence = rig.tail.last_sequence + 1,
        .last_sequence = rig.tail.last_sequence + rig.record_count,
        .durable_frame = rig.tail.number,
        .length =
            (FRAME_HEADER_BYTES + rig.record_bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES,
        .record_count = rig.record_count,
        .record_bytes = rig.record_bytes,
    };
    char path[DISK_PATH_BYTES];
    if (rig.offset + header.length > SEGMENT_BYTES) {
        rig.segment++;
        make_segment();
    }
    header.segment = rig.segment;
    memcpy(header.journal_id, rig.exchange.journal_id, sizeof header.journal_id);
    memcpy(header.previous_hash, rig.tail.hash, sizeof header.previous_hash);
    frame_seal(rig.frame, &header);
    segment_path(path, rig.segment, true);
    int file = disk_open(rig.disk, path, DISK_WRITE);
    CHECK(file >= 0 && disk_write(rig.disk, file, rig.offset, rig.frame, header.length) == 0);
    CHECK(disk_sync(rig.disk, file) == 0);
    disk_close(rig.disk, file);
    frame_tail_advance(&rig.tail, &header, rig.frame);
    rig.frame_ends[header.number] = header.last_sequence;
    rig.offset += header.length;
    rig.record_bytes = rig.record_count = 0;
    memset(rig.frame, 0, sizeof rig.frame);
}

/* Applies a record and lets it wait for its frame. `applies` false: what a fold must refuse. */
static void add(const struct record_view *record, bool applies)
{
    static struct rebuild_buffer buffer;
    struct engine_sink ignore = replay_ignoring();
    struct engine_result result;
    uint8_t *at = rig.frame + FRAME_HEADER_BYTES + rig.record_bytes;
    struct record_view copy = *record;
    copy.t_ns = ++rig.t_ns;
    rig.record_bytes += record_encode(at, &copy);
    rig.record_count++;
    rig.sequence++;
    CHECK(rig.record_bytes < FRAME_BYTES - 4096 && rig.sequence < SEQUENCES_MAX);
    if (!applies)
        return;
    engine_apply(rig.engine, rebuild_command(&buffer, &copy, mix_key_load(rig.exchange.hash_key)),
                 &ignore, &result);
    CHECK(result.sequence == rig.sequence);
    fold_image_hash(rig.engine, rig.hashes[rig.sequence]);
}

static void add_unsigned(uint16_t code, const void *body, uint32_t bytes, bool applies)
{
    struct record_view record = { .code = code, .payload = body, .payload_bytes = (uint16_t)bytes };
    add(&record, applies);
}

static void add_boot(uint32_t rules_version, bool applies)
{
    uint8_t body[24] = { 1 };
    cc_store32(body + 8, rules_version);
    add_unsigned(REQUEST_boot, body, sizeof body, applies);
}

/* W3b: 2015 states the hash before it, and the sequence of that. */
static void add_effects_hash(uint8_t change)
{
    uint64_t lanes[EFFECT_LANES];
    uint8_t body[8 + HASH_BYTES];
    cc_store64(body, rig.sequence);
    engine_effects_lanes(rig.engine, lanes);
    hash_blake2b256(body + 8, lanes, sizeof lanes);
    body[20] ^= change;
    add_unsigned(REQUEST_effects_hash, body, sizeof body, change == 0);
}

/* W3, code 11; nobody verifies the signature here. */
static void add_account(void)
{
    static const uint8_t signature[RECORD_SIGNATURE_BYTES];
    uint8_t payload[REQUEST_BODY_AT + 80] = { REQUEST_VERSION, SIGNATURE_SECP256K1 };
    uint8_t key[33] = { 2 }, random[10] = { 0 };
    cc_store64(random, ++rig.accounts);
    cc_store64(key + 1, rig.accounts);
    struct uuid id = uuid_make_v7(rig.t_ns / 1000000, random);
    cc_store16(payload + 2, REQUEST_create_account_secp256k1);
    memcpy(payload + REQUEST_HEADER_BYTES, id.bytes, sizeof id.bytes);
    struct record_view record = { .code = REQUEST_create_account_secp256k1,
                                  .kind = RECORD_SIGNED,
                                  .payload = payload,
                                  .payload_bytes = sizeof payload,
                                  .key = key,
                                  .key_bytes = sizeof key,
                                  .signature = signature };
    add(&record, true);
}

/* A journal of a few segments: accounts, a 2013 of larger tables in the middle, hashes. */
static void rig_make(void)
{
    struct disk_sim_config disk = { .seed = 1, .block_bytes = BLOCK_BYTES };
    struct option_engine options, larger;
    uint8_t body[CONFIG_ENGINE_TEXT_MAX];
    struct market_file markets;
    bool is_new;

    memset(&rig, 0, sizeof rig);
    rig.t_ns = START_NS;
    rig.disk = disk_sim_create(&disk);
    CHECK(rig.disk != NULL);
    CHECK(exchange_file_open(rig.disk, NULL, &rig.exchange, &is_new, &rig.refusal) == REFUSAL_none);
    frame_tail_start(&rig.tail, rig.exchange.exchange_id);
    (void)configuration(body, "--engine.accounts=512", &larger);
    size_t bytes = (engine_bytes(&larger) + 4095) & ~(size_t)4095;
    rig.memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(rig.memory != MAP_FAILED);
    rig.memory_bytes = bytes;
    rig.engine = engine_init(rig.memory, bytes, mix_key_load(rig.exchange.hash_key), &larger);

    make_segment();
    add_boot(ENGINE_RULES_VERSION, true);
    uint32_t count = (uint32_t)configuration(body, "--engine.accounts=64", &options);
    add_unsigned(REQUEST_configuration, body, count, true);
    end_frame();
    CHECK(market_file_load(&markets, ""));
    for (uint32_t i = 0; i < markets.market_count; i++) {
        uint8_t text[REQUEST_BODY_MAX] = { 0 };
        memcpy(text, markets.markets[i].text, markets.markets[i].text_bytes);
        add_unsigned(REQUEST_market_define, text, (markets.markets[i].text_bytes + 7) & ~7u, true);
    }
    market_file_free(&markets);
    end_frame();
    for (int i = 0; i < ACCOUNTS; i++) {
        add_account();
        if (i % 3 == 2)
            end_frame();
        if (i == ACCOUNTS / 2)
            add_effects_hash(0);
    }
    count = (uint32_t)configuration(body, "--engine.accounts=512", &larger);
    add_unsigned(REQUEST_configuration, body, count, true);
    for (int i = 0; i < ACCOUNTS; i++) {
        add_account();
        if (i % 3 == 2)
            end_frame();
    }
    add_effects_hash(0);
    end_frame();
}

static void rig_free(void)
{
    munmap(rig.memory, rig.memory_bytes);
    disk_sim_destroy(rig.disk);
}

static struct fold_config fold_of(enum fold_start start, uint64_t last_sequence)
{
    return (struct fold_config){
        .disk = rig.disk,
        .exchange = &rig.exchange,
        .segment_bytes = SEGMENT_BYTES,
        .start = start,
        .last_segment = UINT64_MAX,
        .last_sequence = last_sequence,
    };
}

/* Folds, and holds the state against the test's own engine at that sequence. */
static void fold_agrees(struct fold_config config, uint64_t sequence, uint64_t begun_from)
{
    struct fold fold;
    uint8_t hash[HASH_BYTES];
    if (fold_run(&config, &fold, &rig.refusal) != REFUSAL_none)
        fprintf(stderr, "%s\n", rig.refusal.text);
    CHECK(rig.refusal.kind == REFUSAL_none);
    CHECK(fold.sequence == sequence && engine_sequence(fold.engine) == sequence);
    CHECK(fold.start_sequence == begun_from && fold.records == sequence - begun_from);
    fold_image_hash(fold.engine, hash);
    CHECK(memcmp(hash, rig.hashes[sequence], HASH_BYTES) == 0);
    /* The last whole frame: the next one ends above what was applied. */
    CHECK(rig.frame_ends[fold.frame] <= sequence);
    if (fold.frame < rig.tail.number)
        CHECK(rig.frame_ends[fold.frame + 1] > sequence);
    if (fold.frame == rig.tail.number)
        CHECK(memcmp(fold.frame_hash, rig.tail.hash, HASH_BYTES) == 0);
    fold_free(&fold);
}

/* Every sequence, frames cut in the middle among them. */
static void check_genesis(void)
{
    for (uint64_t sequence = 1; sequence <= rig.sequence; sequence += 7)
        fold_agrees(fold_of(FOLD_GENESIS, sequence), sequence, 0);
    fold_agrees(fold_of(FOLD_GENESIS, UINT64_MAX), rig.sequence, 0);
    fold_agrees(fold_of(FOLD_NEWEST, UINT64_MAX), rig.sequence, 0); /* no snapshot: genesis */

    struct fold_config sealed = fold_of(FOLD_GENESIS, UINT64_MAX);
    struct fold fold;
    sealed.last_segment = rig.segment - 1;
    CHECK(rig.segment >= 1);
    CHECK(fold_run(&sealed, &fold, &rig.refusal) == REFUSAL_none);
    CHECK(fold.sequence == fold.frame_end && fold.sequence < rig.sequence);
    CHECK(fold.sequence == rig.frame_ends[fold.frame]);
    fold_free(&fold);
}

/* A snapshot at the end of frame `number`; its sequence. */
static uint64_t snapshot_at(uint64_t number)
{
    struct snapshot_head head;
    struct fold_config config = fold_of(FOLD_GENESIS, rig.frame_ends[number]);
    struct fold fold;
    CHECK(fold_run(&config, &fold, &rig.refusal) == REFUSAL_none);
    CHECK(fold.frame == number && fold.frame_end == fold.sequence);
    CHECK(fold_write_snapshot(fold.engine, rig.disk, &rig.exchange, &fold.position.tail, &head,
                              &rig.refusal) == REFUSAL_none);
    CHECK(head.sequence == fold.sequence && head.frame == number && head.boot == 1);
    CHECK(head.rules_version == ENGINE_RULES_VERSION);
    CHECK(memcmp(head.image_hash, rig.hashes[head.sequence], HASH_BYTES) == 0);
    fold_free(&fold);
    return head.sequence;
}

static void flip(uint64_t sequence)
{
    char path[DISK_PATH_BYTES];
    uint8_t byte;
    snprintf(path, sizeof path, "snapshot/%lu.snap", sequence);
    if (!disk_sim_exists(rig.disk, path)) /* padded with zeros */
        snprintf(path, sizeof path, "snapshot/%020lu.snap", sequence);
    disk_sim_peek(rig.disk, path, 400, &byte, 1);
    byte ^= 4;
    disk_sim_poke(rig.disk, path, 400, &byte, 1);
}

static void check_snapshots(void)
{
    uint64_t first = snapshot_at(6), second = snapshot_at(rig.tail.number - 2);
    struct fold_config config = fold_of(FOLD_SNAPSHOT, UINT64_MAX);
    struct fold fold;

    fold_agrees(fold_of(FOLD_NEWEST, UINT64_MAX), rig.sequence, second);
    fold_agrees(fold_of(FOLD_NEWEST, second), second, second);
    fold_agrees(fold_of(FOLD_NEWEST, second - 1), second - 1, first); /* at or below the target */
    fold_agrees(fold_of(FOLD_NEWEST, first - 1), first - 1, 0);
    config.start_sequence = first; /* over the 2013 of larger tables */
    fold_agrees(config, rig.sequence, first);

    /* The same once more asks the disk for no change: it stands there. */
    uint64_t calls = disk_sim_calls(rig.disk);
    CHECK(snapshot_at(6) == first && disk_sim_calls(rig.disk) == calls);

    /* One that is not whole is passed over, unless it is the one asked for. */
    flip(second);
    fold_agrees(fold_of(FOLD_NEWEST, UINT64_MAX), rig.sequence, first);
    config.start_sequence = second;
    CHECK(fold_run(&config, &fold, &rig.refusal) != REFUSAL_none && rig.refusal.text[0] != '\0');
    flip(first);
    fold_agrees(fold_of(FOLD_NEWEST, UINT64_MAX), rig.sequence, 0);
    CHECK(snapshot_at(6) == first); /* written anew over the damaged one */
    fold_agrees(fold_of(FOLD_NEWEST, UINT64_MAX), rig.sequence, first);
    flip(second);
    fold_agrees(fold_of(FOLD_NEWEST, UINT64_MAX), rig.sequence, second);
}

/* Whatever call of the disk fails while a snapshot is written: the older ones serve as before, and
 * what is there under the new name is whole. */
static void check_failing_disk(void)
{
    struct fold_config config = fold_of(FOLD_GENESIS, rig.frame_ends[10]);
    struct disk *disk = rig.disk;
    struct snapshot_head head;
    struct fold fold;
    uint64_t failures = 0;
    CHECK(fold_run(&config, &fold, &rig.refusal) == REFUSAL_none);
    for (uint64_t call = 1;; call++) {
        rig.disk = disk_sim_copy(disk);
        disk_sim_fail(rig.disk, call, DISK_SIM_EIO, false);
        enum refusal_kind kind = fold_write_snapshot(fold.engine, rig.disk, &rig.exchange,
                                                     &fold.position.tail, &head, &rig.refusal);
        disk_sim_fail(rig.disk, 0, DISK_SIM_EIO, false);
        fold_agrees(fold_of(FOLD_NEWEST, UINT64_MAX), rig.sequence,
                    rig.frame_ends[rig.tail.number - 2]);
        bool done = kind == REFUSAL_none;
        CHECK(done || kind == REFUSAL_machine);
        failures += !done;
        disk_sim_destroy(rig.disk);
        if (done)
            break;
    }
    CHECK(failures >= 5); /* create, write, sync, rename, sync of the folder */
    rig.disk = disk;
    fold_free(&fold);
}

static int refuse_at(void *context, const struct chain_frame *frame, uint64_t sequence,
                     const struct record_view *record, const struct command *command,
                     const struct engine_result *result)
{
    CHECK(result->sequence == sequence && command->code == record->code);
    CHECK(frame->header.first_sequence <= sequence && sequence <= frame->header.last_sequence);
    return sequence == *(const uint64_t *)context ? 4711 : 0;
}

static void check_ends(void)
{
    struct fold_config config = fold_of(FOLD_GENESIS, UINT64_MAX);
    _Atomic bool give_up = true;
    uint64_t at = 30;
    struct fold fold;
    config.visit = refuse_at;
    config.context = &at;
    CHECK(fold_run(&config, &fold, &rig.refusal) == REFUSAL_record_refused);
    CHECK(rig.refusal.error == 4711 && strstr(rig.refusal.text, "sequence 30,") != NULL);
    config.visit = NULL;
    config.give_up = &give_up;
    CHECK(fold_run(&config, &fold, &rig.refusal) == REFUSAL_record_refused);
    CHECK(rig.refusal.error == REPLAY_given_up);
}

/* The directory's image as a snapshot that says another rules_version. */
struct other_sink {
    struct image_sink sink;
    struct snapshot_writer *writer;
};

static void to_section(struct image_sink *sink, uint32_t code, uint32_t version)
{
    snapshot_section_begin(((struct other_sink *)(void *)sink)->writer, code, version);
}

static void to_bytes(struct image_sink *sink, const void *bytes, size_t count)
{
    snapshot_bytes(((struct other_sink *)(void *)sink)->writer, bytes, count);
}

/* roles.md, Configuration: a tail of another rules_version is refused; a state of another
 * one, with a start of this binary behind it, is not. */
static void check_rules_version(void)
{
    struct other_sink sink = { .sink = { .section = to_section, .bytes = to_bytes } };
    struct snapshot_head head = { .sequence = rig.sequence,
                                  .frame = rig.tail.number,
                                  .t_ns = engine_time(rig.engine),
                                  .boot = 1,
                                  .rules_version = ENGINE_RULES_VERSION - 1 };
    struct fold_config config;
    struct disk *before = disk_sim_copy(rig.disk);
    struct rig kept = rig;
    struct fold fold;
    uint8_t tick[8] = { 0 };

    memcpy(head.frame_hash, rig.tail.hash, HASH_BYTES);
    sink.writer = snapshot_begin(rig.disk, &rig.exchange, rig.sequence);
    CHECK(sink.writer != NULL);
    image_write(rig.engine, &sink.sink);
    CHECK(snapshot_end(sink.writer, &head) == 0);
    fold_agrees(fold_of(FOLD_NEWEST, UINT64_MAX), rig.sequence, rig.sequence);

    struct disk *with_other = disk_sim_copy(rig.disk);
    add_unsigned(REQUEST_tick, tick, sizeof tick, false);
    end_frame();
    config = fold_of(FOLD_NEWEST, UINT64_MAX);
    CHECK(fold_run(&config, &fold, &rig.refusal) == REFUSAL_record_refused);
    CHECK(strstr(rig.refusal.text, "rules_version") != NULL);
    disk_sim_destroy(rig.disk);

    rig = kept;
    rig.disk = with_other;
    add_boot(ENGINE_RULES_VERSION, true);
    end_frame();
    fold_agrees(fold_of(FOLD_NEWEST, UINT64_MAX), rig.sequence, rig.sequence - 1);
    disk_sim_destroy(rig.disk);

    rig = kept;
    rig.disk = before;
    add_boot(ENGINE_RULES_VERSION + 1, false);
    end_frame();
    config = fold_of(FOLD_NEWEST, UINT64_MAX);
    CHECK(fold_run(&config, &fold, &rig.refusal) == REFUSAL_record_refused);
    CHECK(strstr(rig.refusal.text, "rules_version") != NULL);
}

/* W3b: a 2015 that differs ends a replay, and its place is named. */
static void check_effects_hash(void)
{
    struct fold_config config = fold_of(FOLD_GENESIS, UINT64_MAX);
    char place[64];
    struct fold fold;
    CHECK(fold_run(&config, &fold, &rig.refusal) == REFUSAL_none);
    CHECK(fold.hashes == 2);
    fold_free(&fold);
    struct rig kept = rig;
    rig.disk = disk_sim_copy(rig.disk);
    add_effects_hash(1);
    end_frame();
    CHECK(fold_run(&config, &fold, &rig.refusal) == REFUSAL_none); /* the disk before */
    fold_free(&fold);
    config.disk = rig.disk;
    CHECK(fold_run(&config, &fold, &rig.refusal) == REFUSAL_record_refused);
    snprintf(place, sizeof place, "sequence %lu, code 2015", rig.sequence);
    CHECK(rig.refusal.error == REPLAY_effects_hash && strstr(rig.refusal.text, place) != NULL);
    disk_sim_destroy(rig.disk);
    rig = kept;
}

int main(void)
{
    rig_make();
    check_genesis();
    check_ends();
    check_effects_hash();
    check_snapshots();
    check_failing_disk();
    check_rules_version();
    rig_free();
    return 0;
}
