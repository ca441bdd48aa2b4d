/* stage_chaos.c - kill -9 in the middle, and the proof that nothing was lost. The traders
 * hurry before it, so that many requests are under way, some of them executed and not answered. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "perp/request/instant.h"
#include "perp_demo/stage.h"

enum { REAP_MS = 60000 };

bool stage_chaos(struct stage *stage)
{
    struct crew_member *perpd = &stage->members[STAGE_PERPD];
    stage->killed_ns = instant_monotonic_ns();
    (void)crew_end(perpd, SIGKILL, REAP_MS);
    feed_set_hurry(stage->feed, false);
    printf("chaos: perpd killed (SIGKILL) %.1f s after the start, while all trade as fast as they "
           "can%s\n",
           (double)(stage->killed_ns - stage->begin_ns) / 1e9, stage->live ? "\033[K" : "");
    fflush(stdout);
    client_close(&stage->client);
    client_close(&stage->admin);
    if (!server_start(&stage->server, perpd, &stage->provision, stage_interrupted()))
        return false;
    stage->back_ns = instant_monotonic_ns();
    printf("chaos: perpd ready on the same data after %.0f ms%s\n",
           (double)(stage->back_ns - stage->killed_ns) / 1e6, stage->live ? "\033[K" : "");
    return true;
}

void stage_chaos_check(struct stage *stage)
{
    struct player_proof sum = { 0 };
    for (int i = 0; i < STAGE_PLAYERS; i++) {
        const struct player_proof *proof = &stage->players[i].proof;
        sum.first += proof->first;
        sum.lost += proof->lost;
        sum.before += proof->before;
        sum.after += proof->after;
        sum.unused += proof->unused;
        sum.asked += proof->asked;
        sum.found += proof->found;
        sum.missing += proof->missing;
        sum.different += proof->different;
    }
    stage_check(stage, sum.first > 0 && sum.missing == 0 && sum.different == 0,
                "chaos: %" PRId64
                " requests acknowledged before the kill; GET /requests finds %" PRId64
                " of %" PRId64 " asked for, %" PRId64 " are missing, %" PRId64 " told otherwise",
                sum.first, sum.found, sum.asked, sum.missing, sum.different);
    stage_check(stage, sum.lost == sum.before + sum.after + sum.unused,
                "chaos: %" PRId64 " answers were lost; sent again, the same bytes: %" PRId64
                " had been executed, %" PRId64 " were executed then, %" PRId64 " not at all",
                sum.lost, sum.before, sum.after, sum.unused);
    stage_check(stage, sum.asked == sum.first + sum.before + sum.after,
                "chaos: killed %.1f s after the start and ready again after %.0f ms; every one of "
                "these requests was asked for",
                (double)(stage->killed_ns - stage->begin_ns) / 1e9,
                (double)(stage->back_ns - stage->killed_ns) / 1e6);
}
