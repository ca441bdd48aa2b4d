/* The heads that are kept (journal.md, Heads): all of a week, then the last of each hour, for ever;
 * after a start, beside a torn end, and no others. */
#include "check.h"
#include "node/serve/head_keeper.h"
#include "support/sim/disk_sim.h"

enum { DAYS = 20, AN_HOUR = 3, HEADS = DAYS * 24 * AN_HOUR, MORE = 100 };

#define SECOND UINT64_C(1000000000)
#define HOUR   (3600 * SECOND)
#define DAY    (24 * HOUR)
#define WEEK   (7 * DAY)
#define BEGIN  (UINT64_C(1700000000) / 3600 * HOUR)

static struct exchange_file exchange = { .exchange_id = { 7 }, .journal_id = { 9 } };
static struct signer_ed25519 signer;
static struct head_keeper keeper;
static struct head_maker maker;
static uint64_t walls[HEADS + MORE + 3]; /* by frame number; one head before MORE, one after */
static uint64_t count;

static struct head_draft draft_at(uint64_t wall_ns)
{
    struct head_draft draft = { .wall_ns = wall_ns };

    walls[++count] = wall_ns;
    draft.frame.number = count;
    draft.frame.last_sequence = 2 * count;
    return draft;
}

/* Adds one as the history thread does. */
static void step(uint64_t wall_ns, uint64_t now_ns)
{
    maker.drafts[maker.added % HEAD_MAKER_DRAFTS] = draft_at(wall_ns);
    maker.added++;
    CHECK(head_keeper_step(&keeper, &maker, now_ns) == 1);
}

/* Whether the head is kept when the newest is of `newest`: it is of the last week, or no head after
 * it that is older than a week is of its hour. */
static bool is_kept(uint64_t number, uint64_t newest)
{
    if (walls[number] + WEEK >= newest)
        return true;
    for (uint64_t n = number + 1; n <= count && walls[n] + WEEK < newest; n++)
        if (walls[n] / HOUR == walls[number] / HOUR)
            return false;
    return true;
}

/* The file holds those heads, in order, and no others. */
static uint64_t check_file(const struct disk *disk, uint64_t newest)
{
    uint8_t bytes[ATTEST_HEAD_BYTES];
    struct attest_head head;
    uint64_t kept = 0;

    for (uint64_t n = 1; n <= count; n++) {
        if (!is_kept(n, newest))
            continue;
        disk_sim_peek(disk, "heads", kept++ * ATTEST_HEAD_BYTES, bytes, sizeof bytes);
        CHECK(attest_head_read(&head, bytes));
        CHECK(attest_head_is_signed(&head, bytes + ATTEST_HEAD_BYTES - SIGNER_SIGNATURE_BYTES,
                                    signer.secret + 32));
        CHECK(head.frame == n && head.sequence == 2 * n && head.wall_ns == walls[n]);
    }
    CHECK(keeper.bytes == kept * ATTEST_HEAD_BYTES && published_get(&keeper.kept) == kept);
    return kept;
}

int main(void)
{
    const struct disk_sim_config config = { .seed = 1, .block_bytes = 512, .latency_max = 1 };
    static const uint8_t seed[SIGNER_SEED_BYTES] = { 3 }, torn[100] = { 1 };
    struct disk *disk = disk_sim_create(&config);

    CHECK(disk != NULL && disk_make_folder(disk, "") == 0);
    signer_ed25519(&signer, seed);
    CHECK(head_keeper_open(&keeper, disk, &exchange, &signer) == 0);
    for (uint64_t i = 0; i < HEADS; i++) {
        struct head_draft draft =
            draft_at(BEGIN + i / AN_HOUR * HOUR + i % AN_HOUR * 1190 * SECOND);
        CHECK(head_keeper_add(&keeper, &draft) == 0);
    }
    CHECK(check_file(disk, 0) == HEADS);

    uint64_t newest = BEGIN + DAYS * DAY + 1800 * SECOND; /* amid an hour */
    step(newest, SECOND);
    uint64_t kept = check_file(disk, newest);
    CHECK(kept > (7 * AN_HOUR + 13) * 24 - 2 && kept < (7 * AN_HOUR + 13) * 24 + 4);

    /* Nothing more within a day. A start passes over what a crash tore off. */
    for (uint64_t i = 1; i <= MORE; i++)
        step(newest + i * 600 * SECOND, 2 * SECOND + i);
    CHECK(check_file(disk, newest) == kept + MORE);
    head_keeper_close(&keeper);
    int file = disk_open(disk, "heads", DISK_WRITE);
    CHECK(file >= 0 && disk_write(disk, file, keeper.bytes, torn, sizeof torn) == 0);
    disk_close(disk, file);
    CHECK(head_keeper_open(&keeper, disk, &exchange, &signer) == 0);
    CHECK(check_file(disk, newest) == kept + MORE);

    /* Two days later those that became old are left out. */
    newest += 2 * DAY;
    step(newest, 2 * DAY);
    CHECK(check_file(disk, newest) < kept + MORE);
    CHECK(head_keeper_sync(&keeper) == 0);
    head_keeper_close(&keeper);
    disk_sim_destroy(disk);
    return 0;
}
