#include "engine/state/samples.h"

#include "engine/state/state.h"
#include "engine/table/image_read.h"
#include "engine/table/image_sink.h"

size_t samples_bytes(void)
{
    return sizeof(struct sample) * SAMPLES_MAX * ENGINE_MARKETS_MAX;
}

void samples_init(struct sample_table *table, void *memory)
{
    table->rows = memory;
}

static struct sample *sample_at(const struct engine *engine, uint32_t market, uint64_t second)
{
    return &engine->samples.rows[(size_t)market * SAMPLES_MAX + second % SAMPLES_MAX];
}

void samples_append(struct engine *engine, uint32_t market)
{
    uint64_t second = engine->t_ns / MARKET_SECOND_NS;

    if (state_market(engine, market)->taken_ns == engine->t_ns) /* taken by this command */
        state_market(engine, market)->reference_from = second + 1;
    *sample_at(engine, market, second) = (struct sample){
        .second = second,
        .price = state_market(engine, market)->index_price,
    };
}

uint64_t samples_mean(const struct engine *engine, uint32_t market, uint32_t least)
{
    uint64_t now = engine->t_ns / MARKET_SECOND_NS;
    uint64_t sum = 0; /* of at most 1,800 prices of 40 bits */
    uint32_t count = 0;

    for (uint64_t age = 0; age < SAMPLES_MAX && age < now; age++) {
        const struct sample *sample = sample_at(engine, market, now - age);
        if (sample->second != now - age)
            continue;
        sum += sample->price;
        count++;
    }
    return count == 0 || count < least ? 0 : sum / count;
}

/* Puts a price into a sorted list of `count`. */
static void insert_sorted(uint64_t *prices, uint32_t count, uint64_t price)
{
    uint32_t at = count;

    for (; at != 0 && prices[at - 1] > price; at--)
        prices[at] = prices[at - 1];
    prices[at] = price;
}

uint64_t samples_reference(const struct engine *engine, uint32_t market)
{
    uint64_t now = engine->t_ns / MARKET_SECOND_NS, prices[SAMPLES_REFERENCE];
    uint32_t count = 0;

    for (uint64_t age = 0; age < SAMPLES_REFERENCE && age < now; age++) {
        const struct sample *sample = sample_at(engine, market, now - age);
        if (sample->second == now - age &&
            sample->second >= engine->markets.rows[market].reference_from)
            insert_sorted(prices, count++, sample->price);
    }
    return count == 0 ? 0 : prices[(count - 1) / 2];
}

void samples_begin_reference(struct engine *engine, uint32_t index)
{
    struct market *market = state_market(engine, index);
    uint64_t second = engine->t_ns / MARKET_SECOND_NS;
    bool is_sampled = sample_at(engine, index, second)->second == second;

    market->taken_ns = engine->t_ns;
    market->reference_from = is_sampled ? second + 1 : second;
}

/* --- image ------------------------------------------------------------------------------------ */

/* What may still count: the half hour that ends with the market's last second. */
static void image_market(const struct engine *engine, uint32_t market, struct image_sink *sink)
{
    uint64_t last = engine->markets.rows[market].second_ns / MARKET_SECOND_NS;
    uint64_t first = last < SAMPLES_MAX ? 1 : last - SAMPLES_MAX + 1;

    for (uint64_t second = first; second <= last; second++) {
        const struct sample *sample = sample_at(engine, market, second);
        const struct sample_row made = { market, sample->second, sample->price }, *row = &made;
        if (sample->second == second) {
            SAMPLE_ROW_FIELDS(IMAGE_FIELD)
        }
    }
}

void samples_image(const struct engine *engine, struct image_sink *sink)
{
    for (uint32_t i = 0; i < engine->markets.count; i++)
        image_market(engine, i, sink);
}

bool samples_load(struct engine *engine, struct image_read *read)
{
    struct sample_row made, last = { 0 }, *row = &made;

    for (; image_read_begins(read, 0 SAMPLE_ROW_FIELDS(IMAGE_READ_BYTES)); read->row++) {
        SAMPLE_ROW_FIELDS(IMAGE_READ)
        if (row->market >= engine->markets.count)
            return image_read_refuse(read, "a sample of no market");
        uint64_t now = engine->markets.rows[row->market].second_ns / MARKET_SECOND_NS;
        if (row->second == 0 || row->second > now || now - row->second >= SAMPLES_MAX ||
            row->price == 0 || row->price > (uint64_t)MARKET_RAW_MAX)
            return image_read_refuse(read, "a sample that cannot be");
        if (row->market < last.market || (row->market == last.market && row->second <= last.second))
            return image_read_refuse(read, "the samples are not in the order of their seconds");
        *sample_at(engine, row->market, row->second) = (struct sample){ row->second, row->price };
        last = *row;
    }
    return read->wrong == NULL;
}
