#include "node/recover/replay.h"

enum { BOOT_BODY_BYTES = 24, RULES_VERSION_AT = 8, HASH_RECORD_BYTES = 40 };

/* The engine options that determine the layout of memory. */
static const enum option capacities[] = {
    OPTION_engine_accounts,          OPTION_engine_portfolios,      OPTION_engine_orders,
    OPTION_engine_positions,         OPTION_engine_credentials,     OPTION_engine_deposits,
    OPTION_engine_ladder_pages,      OPTION_limits_duplicate_slots, OPTION_exchange_clock_past_ms,
    OPTION_exchange_clock_future_ms,
};

static const char *const sentences[REPLAY_REFUSAL_COUNT] = {
#define X(name, sentence) [REPLAY_##name] = (sentence),
    REPLAY_REFUSAL_LIST(X)
#undef X
};

uint32_t replay_version(const struct command *command)
{
    bool is_boot = command->code == REQUEST_boot && command_body_bytes(command) == BOOT_BODY_BYTES;

    return is_boot ? cc_load32(command_body(command) + RULES_VERSION_AT) : 0;
}

bool replay_raise_layout(struct option_engine *layout, const struct option_engine *wanted)
{
    bool raised = false;
    for (size_t i = 0; i < CC_COUNT(capacities); i++) {
        uint64_t *value = &layout->values[capacities[i]];
        if (*value < wanted->values[capacities[i]]) {
            *value = wanted->values[capacities[i]];
            raised = true;
        }
    }
    return raised;
}

bool replay_hash_agrees(const struct engine *engine, const struct command *command)
{
    uint8_t hash[HASH_BYTES];

    if (command->code != REQUEST_effects_hash)
        return true;
    const uint8_t *body = command_body(command);
    if (command_body_bytes(command) != HASH_RECORD_BYTES ||
        cc_load64(body) != engine_sequence(engine))
        return false;
    engine_effects_hash(engine, hash);
    return memcmp(hash, body + sizeof(uint64_t), sizeof hash) == 0;
}

enum replay_refusal replay_admit(const struct engine *engine, struct option_engine *layout,
                                 const struct command *command)
{
    struct option_engine options;

    if (command->code == REQUEST_boot && replay_version(command) != ENGINE_RULES_VERSION)
        return REPLAY_rules_version;
    if (command->code == REQUEST_configuration) {
        if (!option_parse_engine(&options, command_body(command), command_body_bytes(command)))
            return REPLAY_configuration;
        if (replay_raise_layout(layout, &options))
            return REPLAY_layout_too_small;
    }
    if (!replay_hash_agrees(engine, command))
        return REPLAY_effects_hash;
    if (!engine_admits(engine, command))
        return REPLAY_not_admitted;
    return REPLAY_ADMITTED;
}

void replay_explain(struct refusal *refusal)
{
    char said[REFUSAL_TEXT_BYTES];
    int error = refusal->error;

    if (error <= REPLAY_ADMITTED || error >= REPLAY_REFUSAL_COUNT ||
        error == REPLAY_layout_too_small)
        return;
    memcpy(said, refusal->text, sizeof said);
    const char *at = strstr(said, "sequence "); /* as recovery and fold write it */
    if (error == REPLAY_rules_version)
        refusal_set(refusal, REFUSAL_record_refused, "%s (this one has rules_version %d)",
                    sentences[error], ENGINE_RULES_VERSION);
    else
        refusal_set(refusal, REFUSAL_record_refused, "%s%s%s", sentences[error],
                    at != NULL ? "; " : "", at != NULL ? at : "");
}
