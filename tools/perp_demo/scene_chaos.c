/* scene_chaos.c - kill -9 in the middle, and the proof that nothing was lost. The traders
 * hurry before it, so that many requests are under way, some of them executed and not answered. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include "perp/request/instant.h"
#include "perp_demo/scene.h"

enum { REAP_MS = 60000 };

bool scene_chaos(struct scene *scene)
{
    struct crew_member *perpd = &scene->members[SCENE_PERPD];
    scene->killed_ns = instant_monotonic_ns();
    (void)crew_end(perpd, SIGKILL, REAP_MS);
    feed_set_hurry(scene->feed, false);
    if (scene->live)
        scene_live_show(scene);
    else
        printf("chaos: perpd killed (SIGKILL) %.1f s after the start, while all trade as fast as "
               "they can\n",
               (double)(scene->killed_ns - scene->begin_ns) / 1e9);
    fflush(stdout);
    client_close(&scene->client);
    client_close(&scene->admin);
    if (!server_start(&scene->server, perpd, &scene->provision, scene_interrupted()))
        return false;
    scene->back_ns = instant_monotonic_ns();
    if (!scene->live)
        printf("chaos: perpd ready on the same data after %.0f ms\n",
               (double)(scene->back_ns - scene->killed_ns) / 1e6);
    return true;
}

void scene_chaos_check(struct scene *scene)
{
    struct player_proof sum = { 0 };
    for (int i = 0; i < SCENE_PLAYERS; i++) {
        const struct player_proof *proof = &scene->players[i].proof;
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
    scene_check(scene, sum.first > 0 && sum.missing == 0 && sum.different == 0,
                "chaos: %" PRId64
                " requests acknowledged before the kill; GET /requests finds %" PRId64
                " of %" PRId64 " asked for, %" PRId64 " are missing, %" PRId64 " told otherwise",
                sum.first, sum.found, sum.asked, sum.missing, sum.different);
    scene_check(scene, sum.lost == sum.before + sum.after + sum.unused,
                "chaos: %" PRId64 " answers were lost; sent again, the same bytes: %" PRId64
                " had been executed, %" PRId64 " were executed then, %" PRId64 " not at all",
                sum.lost, sum.before, sum.after, sum.unused);
    scene_check(scene, sum.asked == sum.first + sum.before + sum.after,
                "chaos: killed %.1f s after the start and ready again after %.0f ms; every one of "
                "these requests was asked for",
                (double)(scene->killed_ns - scene->begin_ns) / 1e9,
                (double)(scene->back_ns - scene->killed_ns) / 1e6);
}
