#include "node/match/following.h"

#include <errno.h>

#include "store/journal_cluster.h"

int following_begin(struct following *following, struct engine *engine, struct engine_sink *sink,
                    const struct journal *journal, struct mix_key key,
                    const struct option_engine *layout, uint32_t rules_version)
{
    following->engine = engine;
    following->sink = sink;
    following->key = key;
    following->layout = *layout;
    following->rules_version = rules_version;
    following->refused = REPLAY_ADMITTED;
    following->follow = follow_create(journal);
    return following->follow == NULL ? -ENOMEM : 0;
}

int following_begin_again(struct following *following, const struct journal *journal)
{
    uint64_t position;
    struct journal_position from = journal_cluster_end(journal, &position);

    INVARIANT(following->follow == NULL);
    following->rules_version = ENGINE_RULES_VERSION; /* it led */
    following->refused = REPLAY_ADMITTED;
    following->follow = follow_create_at(journal, position, &from);
    return following->follow == NULL ? -ENOMEM : 0;
}

void following_end(struct following *following)
{
    if (following->follow != NULL)
        follow_destroy(following->follow);
    following->follow = NULL;
}

/* A state of older rules takes nothing but the first 2014 of this binary's. */
static enum replay_refusal admit(struct following *following, const struct command *command)
{
    enum replay_refusal refused = REPLAY_rules_version;

    following->refused_version = following->rules_version;
    if (replay_follows(following->rules_version, command->code)) {
        refused = replay_admit(following->engine, &following->layout, command);
        if (refused == REPLAY_rules_version)
            following->refused_version = replay_version(command);
    }
    if (refused == REPLAY_ADMITTED)
        following->rules_version = ENGINE_RULES_VERSION;
    return refused;
}

static int apply(struct following *following, const struct record_view *record, uint64_t sequence)
{
    struct command *command = rebuild_command(&following->rebuilt, record, following->key);
    struct engine_result result;

    if (sequence != engine_sequence(following->engine) + 1)
        return -EBADMSG;
    following->refused = admit(following, command);
    if (following->refused != REPLAY_ADMITTED)
        return -EBADMSG;
    engine_apply(following->engine, command, following->sink, &result);
    return 0;
}

int following_step(struct following *following)
{
    struct record_view record;
    uint64_t sequence;
    int work = 0;

    while (work < FOLLOWING_COMMANDS_A_TURN) {
        int got = follow_next(following->follow, &record, &sequence);
        if (got < 0)
            return got;
        if (got == 0)
            break;
        int applied = apply(following, &record, sequence);
        if (applied < 0)
            return applied;
        work++;
    }
    return work;
}
