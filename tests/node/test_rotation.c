/* perp keys rotate and the start after it, ended at each of their calls that change the disk, with
 * what was not synced lost (journal.md, Signing key): there is one key at any time, the former one
 * until the file has its name, and the journal tells the rotation once. */
#include "check.h"
#include "core_rig.h"
#include "crypto/signer.h"
#include "store/chain.h"

enum { SEEDS = 2, CALLS_MAX = 400 };

static struct signing_key first, second;

/* ---- what the journal tells ------------------------------------------------------------------ */

/* Records 2018 of the journal; the last one's body is in *body. */
static uint32_t told(uint8_t body[ATTEST_ROTATION_BYTES])
{
    struct chain_config config = {
        .disk = core_rig.disk,
        .exchange = &core_rig.core.exchange,
        .segment_bytes = CORE_RIG_SEGMENT_BYTES,
        .last_segment = UINT64_MAX,
    };
    struct chain *chain;
    struct chain_frame frame;
    struct refusal refusal;
    uint32_t count = 0;

    CHECK(chain_open(&chain, &config, &refusal) == REFUSAL_none);
    while (chain_next(chain, &frame) > 0) {
        struct frame_records records;
        struct record_view record;
        uint64_t sequence = 0;
        frame_records_begin(&records, &frame.header, frame.bytes);
        while (frame_records_next(&records, &record, &sequence) > 0) {
            if (record.code != REQUEST_signing_key)
                continue;
            CHECK(record.payload_bytes == ATTEST_ROTATION_BYTES);
            memcpy(body, record.payload, ATTEST_ROTATION_BYTES);
            count++;
        }
    }
    chain_close(chain);
    return count;
}

/* ---- lives ----------------------------------------------------------------------------------- */

static void take(const struct disk *from)
{
    core_rig.disk = disk_sim_copy(from);
    CHECK(core_rig.disk != NULL);
}

/* A start, until what it wrote is durable; false: the disk ended it before. */
static bool start_some(void)
{
    if (core_rig_recover() != REFUSAL_none || core_open(&core_rig.core) != CORE_OPENED)
        return false;
    for (int i = 0; i < CORE_RIG_TURNS; i++) {
        if (disk_sim_is_stopped(core_rig.disk) || core_journal(&core_rig.core) < 0 ||
            core_prepare(&core_rig.core, clock_monotonic_ns(&core_rig.clock)) < 0)
            return false;
        if (journal_durable_seq(core_rig.core.journal) == engine_sequence(core_rig.core.primary))
            return true;
    }
    CHECK(!"it is durable, or the disk fails");
}

static void power_loss(uint64_t seed)
{
    struct disk *survivor = disk_sim_copy(core_rig.disk);

    CHECK(survivor != NULL);
    disk_sim_stop_at(survivor, 0);
    disk_sim_crash(survivor, seed);
    disk_sim_stop_at(core_rig.disk, 0); /* so that what is in flight ends */
    core_destroy(&core_rig.core);
    disk_sim_destroy(core_rig.disk);
    core_rig.disk = survivor;
    clock_advance(&core_rig.clock, 1000000000);
}

/* A whole life: it signs with `key`, and the journal has told all of its rotations. */
static void check_life(const struct signing_key *key)
{
    struct signing_key shown;
    uint8_t body[ATTEST_ROTATION_BYTES];

    core_rig.signing = &shown;
    core_rig_start();
    core_rig_run(2);
    CHECK(memcmp(shown.signer.key, key->signer.key, sizeof key->signer.key) == 0);
    CHECK(shown.count == key->count);
    CHECK(memcmp(core_rig.core.exchange.signing_public, key->signer.key, sizeof key->signer.key) ==
          0);
    CHECK(memcmp(engine_options(core_rig.core.primary)->signing_public, key->signer.key,
                 sizeof key->signer.key) == 0);
    CHECK(told(body) == key->count);
    CHECK(key->count == 0 || memcmp(body, key->rotations[0], sizeof body) == 0);
    core_rig_kill();
    core_rig.signing = NULL;
}

static void end(void)
{
    disk_sim_destroy(core_rig.disk);
    core_rig.disk = NULL;
}

/* ---- the steps ------------------------------------------------------------------------------- */

/* The file: the former key until the call that gives it its name, then the new one. Returns the
 * number of calls. */
static uint64_t rotates(const struct disk *before, const struct exchange_file *exchange)
{
    uint64_t formers = 0, others = 0;

    for (uint64_t call = 1; call < CALLS_MAX; call++) {
        bool is_done = false;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct signing_key key = first, found;
            struct refusal refusal;
            take(before);
            disk_sim_stop_at(core_rig.disk, call);
            refusal_clear(&refusal);
            is_done = signing_key_rotate(core_rig.disk, exchange, &key, &refusal) == REFUSAL_none;
            disk_sim_stop_at(core_rig.disk, 0);
            disk_sim_crash(core_rig.disk, seed);
            refusal_clear(&refusal);
            CHECK(signing_key_open(core_rig.disk, exchange, NULL, &found, &refusal) ==
                  REFUSAL_none);
            bool is_former =
                memcmp(found.signer.key, first.signer.key, sizeof found.signer.key) == 0;
            CHECK(is_former ? found.count == 0 && !is_done
                            : found.count == 1 && memcmp(found.signer.key, key.signer.key,
                                                         sizeof found.signer.key) == 0);
            formers += is_former;
            others += !is_former;
            check_life(&found);
            end();
        }
        if (is_done) {
            CHECK(formers >= SEEDS && others >= SEEDS);
            return call;
        }
    }
    CHECK(!"it is done after some calls");
}

/* The start that tells it: whatever is lost, the next one signs with the new key and the journal
 * has it once. */
static uint64_t starts(const struct disk *rotated)
{
    for (uint64_t call = 1; call < CALLS_MAX; call++) {
        bool is_done = false;
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            struct signing_key shown;
            take(rotated);
            core_rig.signing = &shown;
            disk_sim_stop_at(core_rig.disk, call);
            is_done = start_some();
            power_loss(seed);
            check_life(&second);
            end();
        }
        if (is_done)
            return call;
    }
    CHECK(!"it is done after some calls");
}

int main(void)
{
    struct refusal refusal;

    CHECK(signer_init() == 0);
    core_rig_make();
    core_rig.signing = &first;
    core_rig_start();
    core_rig_run(3);
    struct exchange_file exchange = core_rig.core.exchange;
    core_rig_kill();
    struct disk *before = core_rig.disk, *rotated = disk_sim_copy(before);
    core_rig.disk = NULL;
    CHECK(rotated != NULL);
    second = first;
    refusal_clear(&refusal);
    CHECK(signing_key_rotate(rotated, &exchange, &second, &refusal) == REFUSAL_none);
    CHECK(second.count == 1);
    uint64_t steps = rotates(before, &exchange);
    uint64_t calls = starts(rotated);
    CHECK(steps > 4 && calls > 4); /* create, write, sync, rename, sync of the folder */
    printf("rotation: ended at %lu calls of perp keys rotate and %lu of the start after it\n",
           steps, calls);
    core_rig.disk = before;
    core_rig_free();
    disk_sim_destroy(rotated);
    return 0;
}
