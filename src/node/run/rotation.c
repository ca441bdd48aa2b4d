#include "node/run/rotation.h"

#include "base/base64.h"
#include "base/log.h"

/* The journal's key; NULL: it has none yet. */
static const uint8_t *journal_key(const struct core *core)
{
    const struct option_engine *last = engine_options(core->primary);

    return last != NULL && last->has_signing_public ? last->signing_public : NULL;
}

bool rotation_is_lawful(const struct core *core)
{
    const uint8_t *key = journal_key(core);

    return core->config.signing == NULL || key == NULL ||
           signing_key_after(core->config.signing, core->exchange.exchange_id, key) >= 0;
}

enum refusal_kind rotation_check(struct core *core, struct refusal *refusal)
{
    struct exchange_file *exchange = &core->exchange;

    if (!rotation_is_lawful(core))
        return refusal_set(refusal, REFUSAL_signing_key,
                           "signing.key is another key than the journal's; put that back");
    if (core->config.signing == NULL)
        return REFUSAL_none;
    const uint8_t *own = core->config.signing->signer.key;
    if (memcmp(exchange->signing_public, own, sizeof exchange->signing_public) == 0)
        return REFUSAL_none;
    memcpy(exchange->signing_public, own, sizeof exchange->signing_public);
    int failed = exchange_file_write(core->config.disk, exchange);
    return failed != 0 ? refusal_machine(refusal, "writing exchange", failed) : REFUSAL_none;
}

void rotation_author(struct core *core)
{
    const struct signing_key *signing = core->config.signing;
    const uint8_t *key = journal_key(core);
    char text[BASE64_TEXT_BYTES(SIGNER_ED25519_KEY_BYTES) + 1];
    struct engine_result result;

    if (signing == NULL || key == NULL)
        return;
    int first = signing_key_after(signing, core->exchange.exchange_id, key);
    INVARIANT(first >= 0); /* rotation_is_lawful */
    for (uint32_t i = (uint32_t)first; i < signing->count; i++) {
        struct sequencer *sequencer = &core->matcher.sequencer;
        bool has_room = sequencer_author_hash(sequencer) &&
                        sequencer_author(sequencer, REQUEST_signing_key, signing->rotations[i],
                                         sizeof signing->rotations[i], &result);
        INVARIANT(has_room); /* the journal's buffer is empty at a start and holds far more */
        (void)base64_encode(text, signing->rotations[i], SIGNER_ED25519_KEY_BYTES);
        log_line(LOG_INFO, "signing", "another key signs from sequence %lu on: %s", result.sequence,
                 text);
    }
}
