#include "perp/data/sample_exchange.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/base64.h"
#include "base/config.h"
#include "node/recover/fold.h"
#include "node/recover/rebuild.h"
#include "node/run/market_file.h"
#include "store/disk_real.h"

enum {
    SEGMENT_BYTES = 64 << 20, /* perpd's */
    SLOTS = 256,
    FRAME_COMMANDS = 256, /* the commands of a frame */
    TURNS_MAX = 1 << 20,  /* after which whatever is under way should have ended */
    WAIT_NS = 1000 * 1000 * 1000,
    HISTORY_ROWS = 1 << 10,
};

struct sample_exchange {
    struct core core;
    struct clock clock;
    struct disk_ops ops;
    struct market_file markets;
    struct key_file operator_key, oracle_key;
    struct ring commands, answers, queries, replies;
    void *memory[4];
    struct reply_pool pool;
    void *pool_memory;
    uint64_t unwritten; /* commands that are in no frame yet */
    bool is_open;
};

/* ---- what comes from the seed ---------------------------------------------------------------- */

/* Of the one exchange: a disk's functions have no context. */
static struct {
    uint64_t seed, blocks;
} disk_random_state;

static void seeded_random(struct disk *disk, void *bytes, size_t count)
{
    uint8_t block[SAMPLE_HASH_BYTES], *to = bytes;

    (void)disk;
    for (size_t done = 0; done < count; done += sizeof block) {
        size_t part = count - done < sizeof block ? count - done : sizeof block;
        hash_blake2b256(block, &disk_random_state, sizeof disk_random_state);
        memcpy(to + done, block, part);
        disk_random_state.blocks++;
    }
}

void sample_exchange_key(uint64_t seed, const char *name, uint64_t number, uint32_t curve,
                         struct key_file *key)
{
    uint8_t secret[SIGNER_SEED_BYTES];
    char text[96];
    int count = snprintf(text, sizeof text, "perpd sample %s %lu %lu", name, seed, number);

    INVARIANT(count > 0 && (size_t)count < sizeof text);
    hash_blake2b256(secret, text, (size_t)count);
    bool is_made = key_file_from_secret(key, curve, secret);
    INVARIANT(is_made); /* a hash is no secret of the curve once in 2^128 */
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool fail(char error[SAMPLE_ERROR_MAX], const char *what, const char *why)
{
    snprintf(error, SAMPLE_ERROR_MAX, "%s: %s", what, why);
    return false;
}

static bool open_disk(struct sample_exchange *sample, const char *path, struct disk **disk,
                      char error[SAMPLE_ERROR_MAX])
{
    bool ring_refused;
    int failed = 0;

    if (mkdir(path, 0700) != 0)
        return fail(error, path, strerror(errno));
    *disk = disk_real_open(path, &failed, &ring_refused);
    if (*disk == NULL)
        return fail(error, path, strerror(-failed));
    sample->ops = *(*disk)->ops;
    sample->ops.random = seeded_random;
    (*disk)->ops = &sample->ops;
    (*disk)->block_bytes = DISK_BLOCK_BYTES_MAX;
    return true;
}

static bool configure(struct sample_exchange *sample, char error[SAMPLE_ERROR_MAX])
{
    char operator_key[128], oracle_keys[128], text[BASE64_TEXT_BYTES(32) + 1];
    static uint8_t body[CONFIG_ENGINE_TEXT_MAX];
    static struct config config;

    base64_encode(text, sample->operator_key.public_key, 32);
    snprintf(operator_key, sizeof operator_key, "--exchange.operator_key=%s", text);
    base64_encode(text, sample->oracle_key.public_key, 32);
    snprintf(oracle_keys, sizeof oracle_keys, "--exchange.oracle_keys=%s", text);
    const char *argv[] = { "perp", operator_key, oracle_keys };
    bool is_read = config_load(&config, (int)CC_COUNT(argv), argv, NULL) == CONFIG_RUN;
    ptrdiff_t count = -1;
    if (is_read)
        count = config_engine_text(&config, sample->core.exchange.exchange_id, NULL, body);
    config_free(&config);
    if (count < 0 || !core_configure(&sample->core, body, (uint32_t)count))
        return fail(error, "configuration", "the default options do not read");
    return true;
}

static bool make_rings(struct sample_exchange *sample, char error[SAMPLE_ERROR_MAX])
{
    struct ring *rings[] = { &sample->commands, &sample->answers, &sample->queries,
                             &sample->replies };

    for (size_t i = 0; i < CC_COUNT(rings); i++) {
        sample->memory[i] = aligned_alloc(CC_CACHE_LINE, ring_bytes(SLOTS, MESSAGE_SLOT_BYTES));
        if (sample->memory[i] == NULL)
            return fail(error, "rings", strerror(ENOMEM));
        ring_init(rings[i], sample->memory[i], SLOTS, MESSAGE_SLOT_BYTES);
    }
    sample->pool_memory = aligned_alloc(CC_CACHE_LINE, REPLY_POOL_BYTES);
    if (sample->pool_memory == NULL)
        return fail(error, "rings", strerror(ENOMEM));
    reply_pool_init(&sample->pool, sample->pool_memory);
    return true;
}

static bool start(struct sample_exchange *sample, char error[SAMPLE_ERROR_MAX])
{
    struct follower_link link = { &sample->queries, &sample->replies, &sample->pool };
    struct refusal refusal;
    int failed = core_make_keyring(&sample->core);

    if (failed != 0)
        return fail(error, "keyring", strerror(-failed));
    if (core_recover(&sample->core, &refusal) != REFUSAL_none)
        return fail(error, "start", refusal.text);
    core_link(&sample->core, &link, &sample->commands, &sample->answers);
    return core_open(&sample->core) == CORE_OPENED ||
           fail(error, "start", "the first commands were refused");
}

static bool open_core(struct sample_exchange *sample, struct disk *disk,
                      char error[SAMPLE_ERROR_MAX])
{
    struct core_config config = {
        .disk = disk,
        .clock = &sample->clock,
        .markets = sample->markets.markets,
        .market_count = sample->markets.market_count,
        .durability = JOURNAL_LOCAL,
        .segment_bytes = SEGMENT_BYTES,
        .journal_buffer_bytes = JOURNAL_BUFFER_BYTES_DEFAULT,
        .frames_in_flight = 1,
        .group_bytes = JOURNAL_GROUP_BYTES_DEFAULT,
        .history_rows = HISTORY_ROWS,
        .private_events = HISTORY_ROWS,
        .follower_lag_max_ns = UINT64_MAX / 2,
        .follower_commands_a_turn = FOLLOWER_COMMANDS_A_TURN,
        .clock_gap_max_ns = UINT64_C(3600000000000),
    };
    struct refusal refusal;

    if (core_create(&sample->core, &config, &refusal) != REFUSAL_none)
        return fail(error, "start", refusal.text);
    sample->is_open = true;
    return configure(sample, error) && make_rings(sample, error) && start(sample, error);
}

struct sample_exchange *sample_exchange_open(const char *path, uint64_t seed,
                                             char error[SAMPLE_ERROR_MAX])
{
    struct sample_exchange *sample = aligned_alloc(alignof(struct sample_exchange), sizeof *sample);
    struct disk *disk = NULL;

    if (sample == NULL) {
        (void)fail(error, "start", strerror(ENOMEM));
        return NULL;
    }
    memset(sample, 0, sizeof *sample);
    disk_random_state.seed = seed;
    disk_random_state.blocks = 0;
    clock_init_simulated(&sample->clock, SAMPLE_BEGIN_NS);
    sample_exchange_key(seed, "operator", 0, SIGNATURE_ED25519, &sample->operator_key);
    sample_exchange_key(seed, "oracle", 0, SIGNATURE_ED25519, &sample->oracle_key);
    bool is_open =
        market_file_load(&sample->markets, "") || fail(error, "markets", sample->markets.error);
    is_open = is_open && open_disk(sample, path, &disk, error);
    if (is_open && open_core(sample, disk, error))
        return sample;
    if (disk != NULL && !sample->is_open)
        disk_real_close(disk);
    sample_exchange_free(sample);
    return NULL;
}

void sample_exchange_free(struct sample_exchange *sample)
{
    if (sample == NULL)
        return;
    if (sample->is_open) {
        struct disk *disk = sample->core.config.disk;
        core_destroy(&sample->core);
        disk_real_close(disk);
    }
    market_file_free(&sample->markets);
    for (size_t i = 0; i < CC_COUNT(sample->memory); i++)
        free(sample->memory[i]);
    free(sample->pool_memory);
    key_file_wipe(&sample->operator_key);
    key_file_wipe(&sample->oracle_key);
    free(sample);
}

/* ---- what it is ------------------------------------------------------------------------------ */

const struct key_file *sample_exchange_operator(const struct sample_exchange *sample)
{
    return &sample->operator_key;
}

const struct key_file *sample_exchange_oracle(const struct sample_exchange *sample)
{
    return &sample->oracle_key;
}

const char *sample_exchange_markets(const struct sample_exchange *sample)
{
    return sample->markets.text;
}

const uint8_t *sample_exchange_id(const struct sample_exchange *sample)
{
    return sample->core.exchange.exchange_id;
}

void sample_exchange_advance(struct sample_exchange *sample, uint64_t step_ns)
{
    clock_advance(&sample->clock, step_ns);
}

uint64_t sample_exchange_now_ns(const struct sample_exchange *sample)
{
    return clock_now_ns(&sample->clock);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Steps the journal once more, and waits for the disk when that did nothing. 0 or -errno. */
static int turn_journal(struct sample_exchange *sample)
{
    int work = core_journal(&sample->core);

    if (work == 0 && !journal_idle(sample->core.journal))
        work = disk_wait(sample->core.config.disk, -1, WAIT_NS);
    return work < 0 && work != -ENOENT ? work : 0;
}

static int follow_all(struct sample_exchange *sample)
{
    for (int i = 0; i < TURNS_MAX; i++) {
        int work = core_follow(&sample->core);
        if (work < 0)
            return work;
        if (engine_sequence(sample->core.replica) == journal_durable_seq(sample->core.journal))
            return 0;
    }
    return -ETIMEDOUT;
}

/* One frame of all that was sequenced, durable and applied by the follower, with nothing left to
 * write: how long the disk takes changes no byte. */
static bool write_frame(struct sample_exchange *sample, char error[SAMPLE_ERROR_MAX])
{
    struct core *core = &sample->core;
    uint64_t sequence = engine_sequence(core->primary);
    int failed = 0;

    for (int i = 0; failed == 0 && i < TURNS_MAX; i++) {
        failed = turn_journal(sample);
        if (journal_durable_seq(core->journal) == sequence && journal_idle(core->journal))
            break;
    }
    if (failed == 0)
        failed = follow_all(sample);
    for (int work = 1; failed == 0 && work > 0;) {
        work = core_prepare(core, clock_monotonic_ns(&sample->clock));
        failed = work < 0 ? work : 0;
    }
    sample->unwritten = 0;
    return failed == 0 || fail(error, "journal", strerror(-failed));
}

bool sample_exchange_apply(struct sample_exchange *sample, const struct draft *draft,
                           struct sample_answer *answer, char error[SAMPLE_ERROR_MAX])
{
    static struct rebuild_buffer buffer;
    struct record_view record = {
        .code = (uint16_t)draft->request->code,
        .kind = RECORD_SIGNED,
        .payload_bytes = (uint16_t)draft->count,
        .key_bytes = (uint16_t)draft->key_bytes,
        .payload = draft->payload,
        .key = draft->public_key,
        .signature = draft->signature,
    };
    struct command *command =
        rebuild_command(&buffer, &record, mix_key_load(sample->core.exchange.hash_key));

    command->flags &= (uint8_t)~COMMAND_REPLAYED;
    void *slots = ring_claim(&sample->commands, command->slot_count);
    INVARIANT(slots != NULL); /* it is empty */
    memcpy(slots, command, command_bytes(command));
    ring_publish(&sample->commands);
    for (int i = 0; ring_ready(&sample->answers) == 0; i++) {
        INVARIANT(i < TURNS_MAX);
        (void)core_match(&sample->core);
    }
    const struct answer *given = ring_at(&sample->answers, 0);
    *answer = (struct sample_answer){ .status = given->status, .account_id = given->account_id };
    ring_release(&sample->answers, 1);
    return ++sample->unwritten < FRAME_COMMANDS || write_frame(sample, error);
}

bool sample_exchange_stop(struct sample_exchange *sample, struct sample_end *end,
                          char error[SAMPLE_ERROR_MAX])
{
    struct core *core = &sample->core;
    int failed = 0;

    if (!write_frame(sample, error))
        return false;
    core_stop(core);
    for (int i = 0; failed == 0 && !core_stopped(core) && i < TURNS_MAX; i++) {
        failed = turn_journal(sample);
        if (failed == 0 && (failed = core_follow(core)) > 0)
            failed = 0;
    }
    if (failed != 0 || !core_stopped(core))
        return fail(error, "journal", strerror(failed != 0 ? -failed : ETIMEDOUT));
    struct frame_tail tail = journal_tail(core->journal);
    end->sequence = engine_sequence(core->primary);
    end->frame = tail.number;
    memcpy(end->frame_hash, tail.hash, sizeof end->frame_hash);
    engine_effects_hash(core->primary, end->effects_hash);
    fold_image_hash(core->primary, end->image_hash);
    return true;
}
