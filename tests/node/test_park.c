/* Two threads hand a counter back and forth; each sleeps until woken. A lost wake-up would leave
 * one asleep for its whole time-out, and the round trips would not end in time. */
#include <poll.h>
#include <pthread.h>

#include "check.h"
#include "node/park.h"

enum { ROUNDS = 20000, TIMEOUT_MS = 5000 };

static struct park parks[2];
static _Atomic uint32_t turn; /* whose it is: turn & 1 */
static uint32_t timeouts;     /* of both; each side writes it on its own turn only */

static void play(uint32_t side)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t mine = 2 * round + side;
        while (atomic_load_explicit(&turn, memory_order_acquire) != mine) {
            park_begin(&parks[side]);
            if (atomic_load_explicit(&turn, memory_order_acquire) != mine) {
                struct pollfd file = { .fd = parks[side].file, .events = POLLIN };
                if (poll(&file, 1, TIMEOUT_MS) == 0)
                    timeouts++;
            }
            park_end(&parks[side]);
        }
        atomic_store_explicit(&turn, mine + 1, memory_order_release);
        park_wake(&parks[1 - side]);
    }
}

static void *other(void *unused)
{
    play(1);
    return unused;
}

int main(void)
{
    pthread_t thread;
    CHECK(park_init(&parks[0]) == 0 && park_init(&parks[1]) == 0);
    CHECK(pthread_create(&thread, NULL, other, NULL) == 0);
    play(0);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(timeouts == 0);
    CHECK(turn == 2 * ROUNDS);
    park_close(&parks[0]);
    park_close(&parks[1]);
    return 0;
}
