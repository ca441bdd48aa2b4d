/* A snapshot may stand right behind a record 2013 that narrows the window of request ids: the set
 * is cut by the next command only (rules.md R11, the peek), so ids of the old window are in the
 * image, and a state made from it has room for them. */
#include "check.h"
#include "image_copy.h"

enum { IDS = 25 }; /* a second apart */

int main(void)
{
    static struct image_copy taken, again;
    static uint8_t body[4120];
    struct image_problem problem = { .text = "" };
    struct option_engine needs;
    struct host host, loaded;

    host_open(&host, "exchange.clock_past_ms=30000\n");
    for (int i = 0; i < IDS; i++) {
        CHECK(host_oracle(&host, HOST_BTC, 1000000) == STATUS_request_completed);
        host.clock_ns += HOST_SECOND_NS;
    }
    CHECK(host_unsigned(&host, REQUEST_configuration, body,
                        host_configuration("exchange.clock_past_ms=1000\n", body)) ==
          STATUS_request_completed);
    image_copy_take(&taken, host.engine);
    CHECK(image_needs(taken.parts, taken.part_count, &needs, &problem));
    CHECK(image_copy_open(&taken, &loaded, NULL, &problem));
    image_copy_take(&again, loaded.engine);
    CHECK(image_copy_equal(&taken, &again));
    /* The next command cuts it to 1 s and the slack of 5 s: both states alike. */
    host.clock_ns += HOST_SECOND_NS;
    loaded.clock_ns = host.clock_ns;
    loaded.id_count = host.id_count;
    CHECK(host_oracle(&host, HOST_BTC, 1000000) == host_oracle(&loaded, HOST_BTC, 1000000));
    image_copy_take(&taken, host.engine);
    image_copy_take(&again, loaded.engine);
    CHECK(image_copy_equal(&taken, &again));
    image_copy_free(&taken);
    image_copy_free(&again);
    host_close(&host);
    host_close(&loaded);
    return 0;
}
