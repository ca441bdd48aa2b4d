#include "node/match/disconnect_restart.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "engine/state/disconnect.h"

#define MS_NS UINT64_C(1000000)

static int compare(const void *left, const void *right)
{
    const struct disconnect_restart_arm *a = left, *b = right;

    if (a->grace_ns != b->grace_ns)
        return a->grace_ns < b->grace_ns ? -1 : 1;
    return a->armed_sequence < b->armed_sequence ? -1 : 1;
}

int disconnect_restart_load(struct disconnect_restart *restart, const struct engine *engine)
{
    struct disconnect_arm arm;
    uint32_t count = 0;

    *restart = (struct disconnect_restart){ .due_ns = UINT64_MAX };
    for (uint32_t at = disconnect_next_arm(engine, DISCONNECT_NONE, &arm); at != DISCONNECT_NONE;
         at = disconnect_next_arm(engine, at, &arm))
        count++;
    if (count == 0)
        return 0;
    restart->arms = calloc(count, sizeof *restart->arms);
    if (restart->arms == NULL)
        return -ENOMEM;
    for (uint32_t at = disconnect_next_arm(engine, DISCONNECT_NONE, &arm); at != DISCONNECT_NONE;
         at = disconnect_next_arm(engine, at, &arm))
        restart->arms[restart->count++] =
            (struct disconnect_restart_arm){ .id = { arm.id[0], arm.id[1] },
                                             .armed_sequence = arm.armed_sequence,
                                             .grace_ns = arm.grace_ms * MS_NS };
    INVARIANT(restart->count == count);
    qsort(restart->arms, count, sizeof *restart->arms, compare);
    return 0;
}

void disconnect_restart_free(struct disconnect_restart *restart)
{
    free(restart->arms);
    *restart = (struct disconnect_restart){ .due_ns = UINT64_MAX };
}

static void look_ahead(struct disconnect_restart *restart)
{
    restart->due_ns = restart->next == restart->count
                          ? UINT64_MAX
                          : restart->opened_ns + restart->arms[restart->next].grace_ns;
}

void disconnect_restart_open(struct disconnect_restart *restart, uint64_t now_ns)
{
    restart->opened_ns = now_ns;
    look_ahead(restart);
}

/* True if it was neither armed again nor disarmed since the start. */
static bool is_left(const struct engine *engine, const struct disconnect_restart_arm *arm)
{
    struct disconnect_arm now;

    return disconnect_find_arm(engine, arm->id, &now) && now.armed_sequence == arm->armed_sequence;
}

uint32_t disconnect_restart_step(struct disconnect_restart *restart, struct sequencer *sequencer,
                                 bool *room_left)
{
    uint64_t now_ns = clock_now_ns(sequencer->clock);
    struct engine_result result;
    uint32_t authored = 0;

    for (uint32_t turn = 0; turn < DISCONNECT_RESTART_ARMS_A_TURN && now_ns >= restart->due_ns;
         turn++) {
        const struct disconnect_restart_arm *arm = &restart->arms[restart->next];
        if (is_left(sequencer->engine, arm)) {
            *room_left = sequencer_author_hash(sequencer) &&
                         sequencer_author(sequencer, REQUEST_cancel_on_disconnect, arm->id,
                                          sizeof arm->id, &result);
            if (!*room_left)
                return authored;
            authored++;
        }
        restart->next++;
        look_ahead(restart);
    }
    if (authored != 0)
        log_line(LOG_INFO, "disconnect", "ended=%u left=%u sequence=%lu", authored,
                 restart->count - restart->next, engine_sequence(sequencer->engine));
    return authored;
}
