#include "node/history/adl_rank.h"

#include <stdlib.h>

#include "engine/engine.h"
#include "engine/view/read_positions.h"

enum { SIDES = 2, FIFTHS = 5 };

struct adl_market {
    uint16_t asset_id; /* 0: free */
    uint64_t made_ns;  /* engine time when the look at the holders began */
    struct adl_rank_side sides[SIDES];
};

/* Every `stride`-th holder of a side, in the order of portfolios. */
struct adl_samples {
    uint32_t count;
    uint32_t stride;
    uint64_t seen;
    int128 scores[ADL_RANK_SAMPLES];
};

struct adl_rank {
    struct adl_market markets[ENGINE_MARKETS_MAX];
    uint16_t asset_id; /* of the look that is under way, 0: none */
    uint32_t from;     /* next portfolio to visit */
    uint64_t begun_ns;
    struct adl_samples sides[SIDES];
};

struct adl_rank *adl_rank_create(void)
{
    return calloc(1, sizeof(struct adl_rank));
}

void adl_rank_destroy(struct adl_rank *rank)
{
    free(rank);
}

static void sift_down(int128 *scores, uint32_t count, uint32_t at)
{
    for (uint32_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && scores[child + 1] < scores[child])
            child++;
        if (scores[at] <= scores[child])
            return;
        int128 moved = scores[at];
        scores[at] = scores[child];
        scores[child] = moved;
        at = child;
    }
}

/* Sorts in descending order with a heap: moves the lowest of the rest to its end. */
static void sort(int128 *scores, uint32_t count)
{
    for (uint32_t at = count / 2; at-- > 0;)
        sift_down(scores, count, at);
    for (uint32_t left = count; left > 1; left--) {
        int128 lowest = scores[0];
        scores[0] = scores[left - 1];
        scores[left - 1] = lowest;
        sift_down(scores, left - 1, 0);
    }
}

void adl_rank_part(int128 *scores, uint32_t count, struct adl_rank_side *side)
{
    side->any = count != 0;
    if (count == 0)
        return;
    sort(scores, count);
    for (uint32_t quantile = 1; quantile <= ADL_RANK_LAST; quantile++) {
        uint32_t parts = FIFTHS - quantile; /* ranks below count * parts / 5 have it at least */
        side->bounds[quantile - 1] = scores[(count * parts + FIFTHS - 1) / FIFTHS - 1];
    }
}

/* The market's slot, a free one when it has none yet. */
static struct adl_market *market_at(struct adl_rank *rank, uint16_t asset_id)
{
    uint32_t k = 0;
    while (rank->markets[k].asset_id != 0 && rank->markets[k].asset_id != asset_id) {
        k++;
        INVARIANT(k < ENGINE_MARKETS_MAX);
    }
    return &rank->markets[k];
}

static void begin(struct adl_rank *rank, uint16_t asset_id, uint64_t now_ns)
{
    rank->asset_id = asset_id;
    rank->from = 1; /* portfolio 0 is the fund's: account 0 ranks last (R7) */
    rank->begun_ns = now_ns;
    for (uint32_t k = 0; k < SIDES; k++) {
        rank->sides[k].count = 0;
        rank->sides[k].stride = 1;
        rank->sides[k].seen = 0;
    }
}

static void sample(struct adl_samples *side, int128 score)
{
    if (side->seen++ % side->stride != 0)
        return;
    if (side->count == ADL_RANK_SAMPLES) { /* then this one is still a multiple of twice it */
        side->count /= 2;
        for (uint32_t k = 1; k < side->count; k++)
            side->scores[k] = side->scores[2 * k];
        side->stride *= 2;
    }
    side->scores[side->count++] = score;
}

static void finish(struct adl_rank *rank)
{
    struct adl_market *market = market_at(rank, rank->asset_id);

    market->asset_id = rank->asset_id;
    market->made_ns = rank->begun_ns;
    for (uint32_t k = 0; k < SIDES; k++)
        adl_rank_part(rank->sides[k].scores, rank->sides[k].count, &market->sides[k]);
    rank->asset_id = 0;
}

/* Continues the current scan; false when *holders are used up. */
static bool look(struct adl_rank *rank, const struct engine *engine,
                 const struct market_names *names, uint32_t *holders)
{
    /* A market's index changes when another market is added: it is looked up in each turn. */
    uint32_t k = (uint32_t)(market_names_of(names, rank->asset_id) - names->rows);
    struct read_positions_holder holder;

    for (; *holders != 0; (*holders)--) {
        if (!read_positions_next_holder(engine, k, &rank->from, &holder)) {
            finish(rank);
            return true;
        }
        if (holder.size != 0)
            sample(&rank->sides[holder.size < 0], holder.score);
    }
    return false;
}

/* Whether the bounds are at most `age_ns` old at begun_ns. */
static bool is_younger(const struct adl_market *market, uint64_t begun_ns, uint64_t age_ns)
{
    return market->asset_id != 0 && market->made_ns + age_ns >= begun_ns;
}

bool adl_rank_make(struct adl_rank *rank, const struct engine *engine,
                   const struct market_names *names, uint16_t asset_id, uint64_t begun_ns,
                   uint32_t *holders)
{
    const struct adl_market *market = market_at(rank, asset_id);

    while (!is_younger(market, begun_ns, ADL_RANK_AGE_NS)) {
        if (rank->asset_id == 0)
            begin(rank, asset_id, engine_time(engine));
        bool finished = look(rank, engine, names, holders);
        market = market_at(rank, asset_id); /* a finished scan may have created its row */
        if (!finished)
            return is_younger(market, begun_ns, ADL_RANK_AGE_MAX_NS);
    }
    return true;
}

uint8_t adl_rank_of(const struct adl_rank *rank, uint16_t asset_id, int64_t size, int128 score)
{
    uint8_t quantile = 0;

    for (uint32_t k = 0; k < ENGINE_MARKETS_MAX && rank->markets[k].asset_id != 0; k++) {
        if (rank->markets[k].asset_id != asset_id)
            continue;
        const struct adl_rank_side *side = &rank->markets[k].sides[size < 0];
        while (side->any && quantile < ADL_RANK_LAST && score >= side->bounds[quantile])
            quantile++;
    }
    return quantile;
}
