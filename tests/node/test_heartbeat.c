/* The watchdog is fed only while every role has turned since it was last fed (roles.md,
 * Roles are steps; sd_notify(3), WATCHDOG=1). */
#include "check.h"
#include "node/run/heartbeat.h"

static struct published words[3];

int main(void)
{
    struct heartbeat heartbeat = { .count = 0 };

    published_set(&words[1], 7);
    for (int i = 0; i < 3; i++)
        heartbeat_add(&heartbeat, &words[i]);
    heartbeat_add(&heartbeat, &words[0]); /* two roles of one thread */
    CHECK(heartbeat.count == 3);
    CHECK(!heartbeat_all_moved(&heartbeat)); /* none has */
    for (int stuck = 0; stuck < 3; stuck++) {
        for (int look = 0; look < 5; look++) { /* however long the others turn */
            for (int i = 0; i < 3; i++)
                published_add(&words[i], i != stuck);
            CHECK(!heartbeat_all_moved(&heartbeat));
        }
        published_add(&words[stuck],
                      1); /* it was slow: the others' turns since the last time count */
        CHECK(heartbeat_all_moved(&heartbeat));
        CHECK(!heartbeat_all_moved(&heartbeat));
    }
    published_add(&words[0], UINT64_MAX); /* a count that wraps or is set back has moved */
    published_add(&words[1], 1);
    published_add(&words[2], 1000);
    CHECK(heartbeat_all_moved(&heartbeat));
    return 0;
}
