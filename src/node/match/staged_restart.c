#include "node/match/staged_restart.h"

#include <errno.h>

#include "base/crc32c.h"
#include "base/log.h"
#include "engine/view/read.h"
#include "store/small_file.h"

enum {
    HEAD_BYTES = 56,
    ROW_BYTES = 4,
    AT_EXCHANGE = 8,
    AT_BEGAN = 40,
    AT_COUNT = 48,
    AT_CRC = 52,
    FILE_BYTES_MAX = HEAD_BYTES + ENGINE_MARKETS_MAX * ROW_BYTES,
};

static const uint8_t magic[8] = { 'p', 'e', 'r', 'p', 'd', 'S', 'T', 'G' };

/* --- the file --------------------------------------------------------------------------------- */

static uint32_t crc_of(const uint8_t *bytes, size_t count)
{
    uint8_t head[HEAD_BYTES];

    memcpy(head, bytes, sizeof head);
    memset(head + AT_CRC, 0, sizeof(uint32_t));
    return crc32c(head, sizeof head) ^ crc32c(bytes + HEAD_BYTES, count - HEAD_BYTES);
}

static bool decode(struct staged_restart *restart, const uint8_t *bytes, size_t count,
                   const uint8_t exchange_id[32])
{
    if (count < HEAD_BYTES || memcmp(bytes, magic, sizeof magic) != 0 ||
        memcmp(bytes + AT_EXCHANGE, exchange_id, 32) != 0)
        return false;
    uint32_t rows = cc_load32(bytes + AT_COUNT);
    if (rows > ENGINE_MARKETS_MAX || count != HEAD_BYTES + (size_t)rows * ROW_BYTES ||
        cc_load32(bytes + AT_CRC) != crc_of(bytes, count))
        return false;
    restart->began_ns = cc_load64(bytes + AT_BEGAN);
    restart->count = rows;
    for (uint32_t i = 0; i < rows; i++) {
        const uint8_t *row = bytes + HEAD_BYTES + (size_t)i * ROW_BYTES;
        restart->markets[i] =
            (struct staged_restart_market){ .asset_id = cc_load16(row), .former = row[2] };
        if (row[2] > MARKET_REDUCE_ONLY || row[3] != 0)
            return false;
    }
    return true;
}

/* *is_whole: it is there, and says what was written. */
static int read_file(struct staged_restart *restart, struct disk *disk,
                     const uint8_t exchange_id[32], bool *is_whole)
{
    uint8_t bytes[FILE_BYTES_MAX + 1]; /* one more, to notice a file that is too long */
    int64_t count = small_file_read(disk, "restart", bytes, sizeof bytes);

    memset(restart, 0, sizeof *restart);
    *is_whole = false;
    if (count < 0)
        return count == -ENOENT ? 0 : (int)count;
    *is_whole = decode(restart, bytes, (size_t)count, exchange_id);
    if (!*is_whole) {
        log_line(LOG_WARN, "restart", "the file restart is damaged: markets keep their states");
        memset(restart, 0, sizeof *restart);
    }
    return 0;
}

int staged_restart_store(const struct staged_restart *restart, struct disk *disk,
                         const uint8_t exchange_id[32])
{
    uint8_t bytes[FILE_BYTES_MAX] = { 0 };
    size_t count = HEAD_BYTES + (size_t)restart->count * ROW_BYTES;

    memcpy(bytes, magic, sizeof magic);
    memcpy(bytes + AT_EXCHANGE, exchange_id, 32);
    cc_store64(bytes + AT_BEGAN, restart->began_ns);
    cc_store32(bytes + AT_COUNT, restart->count);
    for (uint32_t i = 0; i < restart->count; i++) {
        cc_store16(bytes + HEAD_BYTES + i * ROW_BYTES, restart->markets[i].asset_id);
        bytes[HEAD_BYTES + i * ROW_BYTES + 2] = restart->markets[i].former;
    }
    cc_store32(bytes + AT_CRC, crc_of(bytes, count));
    return small_file_replace(disk, "restart", bytes, count);
}

/* --- which markets ---------------------------------------------------------------------------- */

static const struct staged_restart_market *find(const struct staged_restart *restart,
                                                uint16_t asset_id)
{
    for (uint32_t i = 0; i < restart->count; i++)
        if (restart->markets[i].asset_id == asset_id)
            return &restart->markets[i];
    return NULL;
}

static void doubt(struct staged_restart *restart, const struct row_market *market, uint8_t state)
{
    restart->doubtful[restart->doubtful_count++] = market->asset_id;
    log_line(LOG_ERROR, "restart",
             "market=%.32s stays %s: the file restart, which would name its state before a staged "
             "start that did not end, is missing or damaged; if nobody set that, give the "
             "market its state: perp market state MARKET STATE",
             market->market, state == MARKET_CANCEL_ONLY ? "CANCEL_ONLY" : "POST_ONLY");
}

int staged_restart_load(struct staged_restart *restart, const struct engine *engine,
                        struct disk *disk, const uint8_t exchange_id[32], uint64_t last_ns,
                        uint64_t now_ns)
{
    struct staged_restart last;
    bool is_whole;
    int failed = read_file(&last, disk, exchange_id, &is_whole);

    memset(restart, 0, sizeof *restart);
    if (failed != 0)
        return failed;
    /* Commands were sequenced after the last step: the restart had finished, and the states that
     * were set since then count. */
    if (last_ns >= last.began_ns + STAGED_RESTART_STEPS * STAGED_RESTART_STEP_NS)
        last.count = 0;
    restart->began_ns = now_ns;
    for (uint32_t k = 0; k < read_market_count(engine); k++) {
        struct row_market market;
        uint8_t state = read_market_state(engine, k);
        read_market(engine, k, &market);
        const struct staged_restart_market *before = find(&last, market.asset_id);
        bool may_be_staged = state == MARKET_CANCEL_ONLY || state == MARKET_POST_ONLY;
        bool was_staged = before != NULL && may_be_staged;
        if (!is_whole && may_be_staged)
            doubt(restart, &market, state);
        if (!was_staged && state >= MARKET_CANCEL_ONLY)
            continue;
        restart->markets[restart->count++] = (struct staged_restart_market){
            .asset_id = market.asset_id,
            .former = was_staged ? before->former : state,
            .set = MARKET_CANCEL_ONLY,
        };
    }
    published_set(&restart->doubts, restart->doubtful_count);
    return 0;
}

/* The state that the market has, or returns to when its hold ends; CLOSED if there is no such
 * market. */
static uint8_t state_of(const struct engine *engine, uint16_t asset_id)
{
    for (uint32_t k = 0; k < read_market_count(engine); k++) {
        struct row_market market;
        read_market(engine, k, &market);
        if (market.asset_id == asset_id)
            return market.state == MARKET_CLOSED ? MARKET_CLOSED : read_market_state(engine, k);
    }
    return MARKET_CLOSED;
}

uint16_t staged_restart_next_open(struct staged_restart *restart, const struct engine *engine,
                                  uint16_t after)
{
    for (uint32_t i = 0; i < restart->count; i++)
        if (restart->markets[i].asset_id > after &&
            state_of(engine, restart->markets[i].asset_id) != MARKET_CANCEL_ONLY)
            return restart->markets[i].asset_id;
    return 0;
}

void staged_restart_leave(struct staged_restart *restart, uint16_t asset_id)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < restart->count; i++)
        if (asset_id != STAGED_RESTART_ALL && restart->markets[i].asset_id != asset_id)
            restart->markets[left++] = restart->markets[i];
    restart->count = left;
}

void staged_restart_judge(struct staged_restart *restart, uint16_t asset_id)
{
    uint32_t left = 0;

    staged_restart_leave(restart, asset_id);
    for (uint32_t i = 0; i < restart->doubtful_count; i++)
        if (asset_id != STAGED_RESTART_ALL && restart->doubtful[i] != asset_id)
            restart->doubtful[left++] = restart->doubtful[i];
    restart->doubtful_count = left;
    published_set(&restart->doubts, left);
}

/* --- the steps -------------------------------------------------------------------------------- */

/* The market's state after the step. POST_ONLY would accept orders that REDUCE_ONLY refuses. */
static uint8_t next_of(const struct staged_restart_market *market, uint32_t step)
{
    if (step + 1 == STAGED_RESTART_STEPS)
        return market->former;
    return market->former == MARKET_REDUCE_ONLY ? MARKET_CANCEL_ONLY : MARKET_POST_ONLY;
}

uint32_t staged_restart_step(struct staged_restart *restart, struct sequencer *sequencer,
                             bool *room_left)
{
    uint32_t authored = 0;

    for (uint32_t i = 0; i < restart->count;) {
        struct staged_restart_market *market = &restart->markets[i];
        uint8_t next = next_of(market, restart->step);
        uint8_t now = state_of(sequencer->engine, market->asset_id);
        if (now != market->set && now != next) { /* someone else has set it */
            staged_restart_leave(restart, market->asset_id);
            continue;
        }
        if (now != next) {
            *room_left = sequencer_author_hash(sequencer) &&
                         sequencer_author_market_state(sequencer, market->asset_id, next);
            if (!*room_left)
                return authored; /* the next turn skips markets that have the state */
            authored++;
            log_line(LOG_INFO, "restart", "asset=%u state=%u sequence=%lu", market->asset_id, next,
                     engine_sequence(sequencer->engine));
        }
        i++;
    }
    for (uint32_t i = 0; i < restart->count; i++)
        restart->markets[i].set = next_of(&restart->markets[i], restart->step);
    if (++restart->step == STAGED_RESTART_STEPS)
        restart->count = 0;
    return authored;
}
