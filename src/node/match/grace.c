#include "node/match/grace.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "engine/state/disconnect.h"

#define MS_NS UINT64_C(1000000)

static int compare(const void *left, const void *right)
{
    const struct grace_arm *a = left, *b = right;

    if (a->grace_ns != b->grace_ns)
        return a->grace_ns < b->grace_ns ? -1 : 1;
    return a->armed_sequence < b->armed_sequence ? -1 : 1;
}

int grace_load(struct grace *grace, const struct engine *engine)
{
    struct disconnect_arm arm;
    uint32_t count = 0;

    *grace = (struct grace){ .due_ns = UINT64_MAX };
    for (uint32_t at = disconnect_next_arm(engine, DISCONNECT_NONE, &arm); at != DISCONNECT_NONE;
         at = disconnect_next_arm(engine, at, &arm))
        count++;
    if (count == 0)
        return 0;
    grace->arms = calloc(count, sizeof *grace->arms);
    if (grace->arms == NULL)
        return -ENOMEM;
    for (uint32_t at = disconnect_next_arm(engine, DISCONNECT_NONE, &arm); at != DISCONNECT_NONE;
         at = disconnect_next_arm(engine, at, &arm))
        grace->arms[grace->count++] = (struct grace_arm){ .id = { arm.id[0], arm.id[1] },
                                                          .armed_sequence = arm.armed_sequence,
                                                          .grace_ns = arm.grace_ms * MS_NS };
    INVARIANT(grace->count == count);
    qsort(grace->arms, count, sizeof *grace->arms, compare);
    return 0;
}

void grace_free(struct grace *grace)
{
    free(grace->arms);
    *grace = (struct grace){ .due_ns = UINT64_MAX };
}

static void look_ahead(struct grace *grace)
{
    grace->due_ns = grace->next == grace->count
                        ? UINT64_MAX
                        : grace->opened_ns + grace->arms[grace->next].grace_ns;
}

void grace_open(struct grace *grace, uint64_t now_ns)
{
    grace->opened_ns = now_ns;
    look_ahead(grace);
}

/* Nobody has armed it again, or disarmed it, since the start. */
static bool is_left(const struct engine *engine, const struct grace_arm *arm)
{
    struct disconnect_arm now;

    return disconnect_find_arm(engine, arm->id, &now) && now.armed_sequence == arm->armed_sequence;
}

uint32_t grace_step(struct grace *grace, struct sequencer *sequencer, bool *room_left)
{
    uint64_t now_ns = clock_now_ns(sequencer->clock);
    struct engine_result result;
    uint32_t authored = 0;

    for (uint32_t turn = 0; turn < GRACE_ARMS_A_TURN && now_ns >= grace->due_ns; turn++) {
        const struct grace_arm *arm = &grace->arms[grace->next];
        if (is_left(sequencer->engine, arm)) {
            *room_left = sequencer_author_hash(sequencer) &&
                         sequencer_author(sequencer, REQUEST_cancel_on_disconnect, arm->id,
                                          sizeof arm->id, &result);
            if (!*room_left)
                return authored;
            authored++;
        }
        grace->next++;
        look_ahead(grace);
    }
    if (authored != 0)
        log_line(LOG_INFO, "disconnect", "ended=%u left=%u sequence=%lu", authored,
                 grace->count - grace->next, engine_sequence(sequencer->engine));
    return authored;
}
