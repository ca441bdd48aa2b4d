/* The image of a market that is being closed (rules.md R9): in each slice a state made from it goes
 * on alike, and what cannot be is refused. The three accounts are those of closing.h. */
#include "closing.h"
#include "image_copy.h"
#include "waiting.h"

#define S      HOST_SECOND_NS
#define NO_AGE "exchange.oracle_max_age_ms=0\n"
#define SLICED NO_AGE "engine.work_per_command=1\n"

static struct host host, loaded;
static struct image_copy ours, theirs;

/* In each slice a state made from the image goes on alike, and is refused when it cannot be. */
static void test_image(void)
{
    struct image_problem problem;
    uint32_t passes[3] = { 0 };

    for (uint32_t slices = 0; slices < 24; slices++) {
        closing_open_three(&host, SLICED);
        trade_rest(&host, 4, 1000, 940000);
        closing_work(&host);
        closing_seconds(&host, 3);
        closing_samples(&host, 850001);
        CHECK(closing_now(&host) == TRADE_OK);
        for (uint32_t i = 0; i < slices; i++)
            host_tick(&host, 1);
        passes[host.engine->settlements[0].pass]++;
        image_copy_take(&ours, host.engine);
        CHECK(image_copy_open(&ours, &loaded, NULL, &problem));
        host.mirror = &loaded;
        closing_work(&host);
        image_copy_take(&ours, host.engine);
        image_copy_take(&theirs, loaded.engine);
        CHECK(image_copy_equal(&ours, &theirs));
        closing_check_empty(&host);
        host.mirror = NULL;
        host_close(&loaded);
        host_close(&host);
    }
    CHECK(passes[SETTLEMENT_LOSSES] > 3 && passes[SETTLEMENT_PROFITS] > 2);
    CHECK(passes[SETTLEMENT_NONE] > 3);

    trade_open(&host, NO_AGE); /* samples of the half hour are in the image, older ones are not */
    closing_seconds(&host, 5);
    host_tick(&host, 1790 * S);
    closing_seconds(&host, 20);
    image_copy_take(&ours, host.engine);
    uint64_t bytes = image_copy_part(&ours, IMAGE_samples)->byte_count;
    CHECK(bytes == 21 * 20);
    CHECK(image_copy_open(&ours, &loaded, NULL, &problem));
    CHECK(samples_mean(loaded.engine, 0, SAMPLES_LEAST) ==
          samples_mean(host.engine, 0, SAMPLES_LEAST));
    host_close(&loaded);
    host_close(&host);
    image_copy_free(&ours);
    image_copy_free(&theirs);
}

/* What waits in the market leaves in the order of its placing, which an image does not keep by
 * itself: its rows go by portfolio. */
static void test_waiting(void)
{
    static const uint32_t owners[] = { 3, 1, 4, 2, 2, 1, 3, 4, 1 };
    struct image_problem problem;
    struct trade_id ids[CC_COUNT(owners)];
    struct effect_order_state state;
    uint64_t lanes[2][8];

    trade_open(&host, NO_AGE);
    for (size_t k = 0; k < CC_COUNT(owners); k++)
        ids[k] = waiting_rest(
            &host, owners[k],
            &(struct waiting){ .trigger = 900000, .quantity = -1000, .type = ORDER_STOP_MARKET });
    image_copy_take(&ours, host.engine);
    CHECK(image_copy_open(&ours, &loaded, NULL, &problem));
    waiting_check(&loaded);
    host.mirror = &loaded;
    CHECK(closing_now(&host) == TRADE_OK);
    for (uint32_t k = 0; k < CC_COUNT(owners); k++) {
        memcpy(&state, host_effect(&host, EFFECT_order_state, k)->bytes, sizeof state);
        CHECK(memcmp(state.order_id, ids[k].bytes, sizeof state.order_id) == 0);
    }
    engine_effects_lanes(host.engine, lanes[0]);
    engine_effects_lanes(loaded.engine, lanes[1]);
    CHECK(memcmp(lanes[0], lanes[1], sizeof lanes[0]) == 0);
    host.mirror = NULL;
    host_close(&loaded);
    host_close(&host);
    image_copy_free(&ours);
}

/* A wrong byte in what an image tells of a settlement under way: refused, or the state goes on to
 * its end without an invariant. */
static void test_damage(void)
{
    static const uint32_t sections[] = { IMAGE_work, IMAGE_samples };
    struct image_problem problem;
    uint32_t refused = 0, accepted = 0;

    closing_open_three(&host, SLICED);
    closing_samples(&host, 850001);
    CHECK(closing_now(&host) == TRADE_OK);
    while (host.engine->settlements[0].from != 3) /* among the losers, behind 2 */
        host_tick(&host, 1);
    image_copy_take(&ours, host.engine);
    CHECK(image_copy_open(&ours, &loaded, NULL, &problem));
    for (size_t k = 0; k < CC_COUNT(sections); k++) {
        const struct image_part *part = image_copy_part(&ours, sections[k]);
        uint64_t first = (uint64_t)(part->bytes - ours.bytes);
        for (uint64_t at = first; at < first + part->byte_count && at < first + 200; at++) {
            for (uint32_t bit = 0; bit < 8; bit++) {
                ours.bytes[at] ^= (uint8_t)(1u << bit);
                if (image_copy_reopen(&ours, &loaded, &problem)) {
                    accepted++;
                    loaded.skip_audit = true;
                    loaded.clock_ns = engine_time(loaded.engine) + S;
                    for (uint32_t i = 0; i < 20; i++)
                        host_tick(&loaded, 1);
                } else {
                    refused++;
                }
                ours.bytes[at] ^= (uint8_t)(1u << bit);
            }
        }
    }
    CHECK(refused > 1000 && accepted > 100);
    host_close(&loaded);
    host_close(&host);
    image_copy_free(&ours);
}

int main(void)
{
    test_waiting();
    test_image();
    test_damage();
    return 0;
}
