#include "node/match/stage.h"

#include <errno.h>

#include "base/crc32c.h"
#include "base/log.h"
#include "engine/view/read.h"
#include "engine/view/read_figures.h"
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

static bool decode(struct stage *stage, const uint8_t *bytes, size_t count,
                   const uint8_t exchange_id[32])
{
    if (count < HEAD_BYTES || memcmp(bytes, magic, sizeof magic) != 0 ||
        memcmp(bytes + AT_EXCHANGE, exchange_id, 32) != 0)
        return false;
    uint32_t rows = cc_load32(bytes + AT_COUNT);
    if (rows > ENGINE_MARKETS_MAX || count != HEAD_BYTES + (size_t)rows * ROW_BYTES ||
        cc_load32(bytes + AT_CRC) != crc_of(bytes, count))
        return false;
    stage->began_ns = cc_load64(bytes + AT_BEGAN);
    stage->count = rows;
    for (uint32_t i = 0; i < rows; i++) {
        const uint8_t *row = bytes + HEAD_BYTES + (size_t)i * ROW_BYTES;
        stage->markets[i] = (struct stage_market){ .asset_id = cc_load16(row), .former = row[2] };
        if (row[2] > MARKET_REDUCE_ONLY || row[3] != 0)
            return false;
    }
    return true;
}

static int read_file(struct stage *stage, struct disk *disk, const uint8_t exchange_id[32])
{
    uint8_t bytes[FILE_BYTES_MAX + 1]; /* one more, to see a file that is too long */
    int64_t count = small_file_read(disk, "restart", bytes, sizeof bytes);

    memset(stage, 0, sizeof *stage);
    if (count < 0)
        return count == -ENOENT ? 0 : (int)count;
    if (!decode(stage, bytes, (size_t)count, exchange_id)) {
        log_line(LOG_WARN, "restart", "the file restart is damaged: markets keep their states");
        memset(stage, 0, sizeof *stage);
    }
    return 0;
}

int stage_store(const struct stage *stage, struct disk *disk, const uint8_t exchange_id[32])
{
    uint8_t bytes[FILE_BYTES_MAX] = { 0 };
    size_t count = HEAD_BYTES + (size_t)stage->count * ROW_BYTES;

    memcpy(bytes, magic, sizeof magic);
    memcpy(bytes + AT_EXCHANGE, exchange_id, 32);
    cc_store64(bytes + AT_BEGAN, stage->began_ns);
    cc_store32(bytes + AT_COUNT, stage->count);
    for (uint32_t i = 0; i < stage->count; i++) {
        cc_store16(bytes + HEAD_BYTES + i * ROW_BYTES, stage->markets[i].asset_id);
        bytes[HEAD_BYTES + i * ROW_BYTES + 2] = stage->markets[i].former;
    }
    cc_store32(bytes + AT_CRC, crc_of(bytes, count));
    return small_file_replace(disk, "restart", bytes, count);
}

/* --- which markets ---------------------------------------------------------------------------- */

static const struct stage_market *find(const struct stage *stage, uint16_t asset_id)
{
    for (uint32_t i = 0; i < stage->count; i++)
        if (stage->markets[i].asset_id == asset_id)
            return &stage->markets[i];
    return NULL;
}

int stage_load(struct stage *stage, const struct engine *engine, struct disk *disk,
               const uint8_t exchange_id[32], uint64_t last_ns, uint64_t now_ns)
{
    struct stage last;
    int failed = read_file(&last, disk, exchange_id);

    memset(stage, 0, sizeof *stage);
    if (failed != 0)
        return failed;
    /* The journal went on until then: the stages were over, and what was set since is meant. */
    if (last_ns >= last.began_ns + STAGE_STEPS * STAGE_STEP_NS)
        last.count = 0;
    stage->began_ns = now_ns;
    for (uint32_t k = 0; k < read_market_count(engine); k++) {
        struct row_market market;
        uint8_t state = read_figures_state(engine, k);
        read_market(engine, k, &market);
        const struct stage_market *before = find(&last, market.asset_id);
        bool was_staged =
            before != NULL && (state == MARKET_CANCEL_ONLY || state == MARKET_POST_ONLY);
        if (!was_staged && state >= MARKET_CANCEL_ONLY)
            continue;
        stage->markets[stage->count++] = (struct stage_market){
            .asset_id = market.asset_id,
            .former = was_staged ? before->former : state,
            .set = MARKET_CANCEL_ONLY,
        };
    }
    return 0;
}

/* The state that the market has, or returns to when its hold ends; CLOSED of none. */
static uint8_t state_of(const struct engine *engine, uint16_t asset_id)
{
    for (uint32_t k = 0; k < read_market_count(engine); k++) {
        struct row_market market;
        read_market(engine, k, &market);
        if (market.asset_id == asset_id)
            return market.state == MARKET_CLOSED ? MARKET_CLOSED : read_figures_state(engine, k);
    }
    return MARKET_CLOSED;
}

uint16_t stage_next_open(struct stage *stage, const struct engine *engine, uint16_t after)
{
    for (uint32_t i = 0; i < stage->count; i++)
        if (stage->markets[i].asset_id > after &&
            state_of(engine, stage->markets[i].asset_id) != MARKET_CANCEL_ONLY)
            return stage->markets[i].asset_id;
    return 0;
}

void stage_leave(struct stage *stage, uint16_t asset_id)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < stage->count; i++)
        if (asset_id != STAGE_ALL && stage->markets[i].asset_id != asset_id)
            stage->markets[left++] = stage->markets[i];
    stage->count = left;
}

/* --- the steps -------------------------------------------------------------------------------- */

/* What the market becomes in the step: POST_ONLY lets in what REDUCE_ONLY does not. */
static uint8_t next_of(const struct stage_market *market, uint32_t step)
{
    if (step + 1 == STAGE_STEPS)
        return market->former;
    return market->former == MARKET_REDUCE_ONLY ? MARKET_CANCEL_ONLY : MARKET_POST_ONLY;
}

uint32_t stage_step(struct stage *stage, struct sequencer *sequencer, bool *room_left)
{
    uint32_t authored = 0;

    for (uint32_t i = 0; i < stage->count;) {
        struct stage_market *market = &stage->markets[i];
        uint8_t next = next_of(market, stage->step);
        uint8_t now = state_of(sequencer->engine, market->asset_id);
        if (now != market->set && now != next) { /* somebody else has set it */
            stage_leave(stage, market->asset_id);
            continue;
        }
        if (now != next) {
            *room_left = sequencer_author_hash(sequencer) &&
                         sequencer_author_market_state(sequencer, market->asset_id, next);
            if (!*room_left)
                return authored; /* what is done is seen by its state when it goes on */
            authored++;
            log_line(LOG_INFO, "restart", "asset=%u state=%u sequence=%lu", market->asset_id, next,
                     engine_sequence(sequencer->engine));
        }
        i++;
    }
    for (uint32_t i = 0; i < stage->count; i++)
        stage->markets[i].set = next_of(&stage->markets[i], stage->step);
    if (++stage->step == STAGE_STEPS)
        stage->count = 0;
    return authored;
}
