#include "engine/engine.h"

#include "base/command_hash.h"
#include "base/credential_field.h"
#include "base/rule.h"
#include "engine/dispatch.h"
#include "engine/image/image.h"
#include "engine/risk/risk.h"
#include "engine/state/access.h"
#include "engine/state/effects_emit_inline.h"
#include "engine/state/evidence.h"
#include "engine/state/portfolio_row.h"
#include "engine/state/window.h"
#include "engine/trade/batch.h"
#include "engine/trade/walk_debt.h"
#include "engine/work/work.h"

size_t engine_bytes(const struct option_engine *capacity)
{
    return state_bytes(capacity, NULL);
}

size_t engine_bytes_resident(const struct option_engine *capacity)
{
    size_t resident;
    (void)state_bytes(capacity, &resident);
    return resident;
}

struct engine *engine_init(void *memory, size_t bytes, struct mix_key key,
                           const struct option_engine *capacity)
{
    static const uint8_t no_label[ACCOUNT_LABEL_BYTES];
    struct engine *engine = state_init(memory, bytes, capacity);

    engine->key = key;
    effects_init(&engine->effects);
    uint32_t own =
        account_add(engine, no_label); /* account 0 with the fund, portfolio 0/0/0 (R1) */
    INVARIANT(own == 0 && engine->portfolios.count == 1);
    return engine;
}

uint64_t engine_sequence(const struct engine *engine)
{
    return engine->sequence;
}

uint64_t engine_time(const struct engine *engine)
{
    return engine->t_ns;
}

uint64_t engine_time_next(const struct engine *engine, uint64_t clock_ns)
{
    return clock_ns > engine->t_ns ? clock_ns : engine->t_ns + 1;
}

uint64_t engine_next_deadline(const struct engine *engine)
{
    if (engine->clock_step_ns != 0)
        return UINT64_MAX;
    return work_next_deadline(engine); /* tiers come into force with the next full second */
}

uint64_t engine_next_needed(const struct engine *engine)
{
    if (engine->clock_step_ns != 0)
        return UINT64_MAX;
    return work_next_needed(engine);
}

int64_t engine_clock_gap_ns(const struct engine *engine)
{
    return engine->clock_step_ns;
}

bool engine_has_work(const struct engine *engine)
{
    return work_queue_is_pending(engine);
}

void engine_effects_lanes(const struct engine *engine, uint64_t lanes[EFFECT_LANES])
{
    memcpy(lanes, engine->effects.lanes, sizeof engine->effects.lanes);
}

const uint8_t *engine_configuration(const struct engine *engine, size_t *bytes)
{
    *bytes = engine->configuration_bytes;
    return engine->configuration_bytes == 0 ? NULL : engine->configuration;
}

const struct option_engine *engine_options(const struct engine *engine)
{
    return engine->configuration_bytes == 0 ? NULL : &engine->options;
}

void engine_image(struct engine *engine, struct image_sink *sink)
{
    image_write(engine, sink);
}

/* --- peek: rows window to walks_owed ----------------------------------------------------- */

static void load_id(const struct command *command, uint64_t id[2])
{
    const uint8_t *bytes = command_request_id(command);
    id[0] = cc_load64(bytes);
    id[1] = cc_load64(bytes + 8);
}

/* Adds the indexes that a first 22 or 24 made. */
static void add_original_indexes(const struct engine *engine, uint64_t sequence,
                                 struct engine_result *result)
{
    uint32_t subaccount = subaccount_find_sequence(engine, sequence);
    uint32_t portfolio = portfolio_find_sequence(engine, sequence);

    if (subaccount != SUBACCOUNT_NONE) {
        result->subaccount_index = engine->subaccounts.rows[subaccount].subaccount_index;
        result->members |= ANSWER_HAS_INDEXES;
    } else if (portfolio != PORTFOLIO_NONE) {
        result->subaccount_index = engine->portfolios.rows[portfolio].subaccount_index;
        result->portfolio_index = engine->portfolios.rows[portfolio].portfolio_index;
        result->members |= ANSWER_HAS_INDEXES;
    }
}

/* Adds the public identifiers of the first answer, found by its sequence (W5). */
static void add_original_members(const struct engine *engine, uint64_t sequence,
                                 struct engine_result *result)
{
    const struct credential *rows = engine->credentials.rows;
    uint32_t found = credential_find_sequence_master(engine, sequence);

    if (found != CREDENTIAL_NONE &&
        engine->accounts.rows[rows[found].account].created_sequence == sequence) {
        result->account_id = state_account_id(engine, rows[found].account);
        result->members |= ANSWER_HAS_ACCOUNT;
    }
    found = credential_find_sequence(engine, sequence, CREDENTIAL_SESSION);
    if (found != CREDENTIAL_NONE) {
        credential_id(&rows[found], result->id);
        result->expires_at_ns = rows[found].expires_ns;
        result->members |= ANSWER_HAS_ID | ANSWER_HAS_EXPIRY;
    }
    found = credential_find_sequence(engine, sequence, CREDENTIAL_API_KEY);
    if (found != CREDENTIAL_NONE) {
        credential_id(&rows[found], result->id);
        result->members |= ANSWER_HAS_ID;
    }
    found = credential_find_sequence(engine, sequence, CREDENTIAL_DEVICE_KEY);
    if (found != CREDENTIAL_NONE) {
        credential_id(&rows[found], result->id);
        result->expires_at_ns = rows[found].expires_ns;
        result->members |= ANSWER_HAS_ID | ANSWER_HAS_EXPIRY;
    }
    found = withdrawal_find_sequence(engine, sequence);
    if (found != WITHDRAWAL_NONE) {
        withdrawal_id(&engine->withdrawals.rows[found], result->id);
        result->members |= ANSWER_HAS_ID;
    }
    add_original_indexes(engine, sequence, result);
}

static bool answer_duplicate(const struct engine *engine, const struct command *command,
                             uint64_t account, struct engine_result *result)
{
    uint64_t id[2];

    load_id(command, id);
    const struct duplicate_row *row =
        duplicate_find(&engine->duplicates, command->request_hash, account, id);
    if (row == NULL)
        return false;
    result->status = ROW_STATUS(duplicate);
    result->original_status = duplicate_status(row);
    result->original_processed_at_ns = row->processed_at_ns;
    result->members = ANSWER_HAS_ORIGINAL;
    add_original_members(engine, duplicate_sequence(row), result);
    return true;
}

/* Begins an answer: all fields but sequence and t are zero. It copies a constant, because the
 * compiler would clear so many bytes with a string instruction, slower than the rest of a peek. */
static void begin_result(struct engine_result *result, uint64_t sequence, uint64_t t_ns)
{
    static const struct engine_result nothing;

    *result = nothing;
    result->sequence = sequence;
    result->processed_at_ns = t_ns;
}

/* Whether a code may use the rows of the duplicate set that are kept for cancels: those that end or
 * reduce orders, and those of operators. */
static bool is_kept_for(uint16_t code)
{
    return code == REQUEST_order_reduction || code == REQUEST_order_cancel ||
           code == REQUEST_cancel_all_orders || code == REQUEST_conditional_order_cancel ||
           request_find(code)->signer == SIGNER_OPERATOR;
}

/* Whether a command may enter an order, which then walks. */
static bool may_walk(const struct command *command)
{
    return command->code == REQUEST_place_limit_order ||
           command->code == REQUEST_order_replacement ||
           command->code == REQUEST_place_market_order ||
           (command->code == REQUEST_order_batch && batch_enters(command));
}

/* True if one of these rows answers; then *result is the answer. */
static bool peek_answers(const struct engine *engine, const struct command *command, uint64_t t_ns,
                         struct engine_result *result)
{
    uint64_t id[2], account;

    load_id(command, id);
    if (!window_holds(engine, duplicate_id_ms(id), t_ns)) {
        result->status = ROW_STATUS(window);
        return true;
    }
    if (!access_duplicate_account(engine, command, t_ns, &account))
        return false;
    if (answer_duplicate(engine, command, account, result))
        return true;
    const struct duplicate *set = &engine->duplicates;
    uint32_t ids = command->code == REQUEST_order_batch ? batch_id_count(command) : 1;
    if (set->grant != 0 && duplicate_count(set, account) + ids > set->grant) {
        result->status = ROW_STATUS(duplicates_share);
        result->retry_after_ms = duplicate_wait_ms(set, account);
        return true;
    }
    if (duplicate_full(set, ids, is_kept_for(command->code))) {
        result->status = ROW_STATUS(duplicates_full);
        return true;
    }
    if (!may_walk(command))
        return false;
    result->retry_after_ms = walk_debt_wait_ms(engine, account_id_slot(account), t_ns);
    if (CC_LIKELY(result->retry_after_ms == 0))
        return false;
    result->status = ROW_STATUS(walks_owed);
    return true;
}

void engine_set_grant(struct engine *engine, uint32_t ids)
{
    engine->duplicates.grant = ids;
}

bool engine_peek(const struct engine *engine, const struct command *command, uint64_t t_ns,
                 struct engine_result *result)
{
    begin_result(result, 0, t_ns);
    if (command->kind == COMMAND_UNSIGNED)
        return false;
    INVARIANT(engine->configuration_bytes != 0);
    if (!peek_answers(engine, command, t_ns, result))
        return false;
    if (evidence_is_wanted(command))
        evidence_of_market(engine, command, result);
    return true;
}

/* --- apply ------------------------------------------------------------------------------------ */

/* Emits 2100, with the account of the id. Enters the id in the duplicate set (W5) if the command
 * consumes it. */
static void emit_answer(struct engine *engine, const struct command *command, bool is_consumed,
                        const struct engine_result *result)
{
    struct effect_answer body = {
        .status = result->status,
        .reason = result->reason,
        .item = EFFECT_NO_ITEM,
        .rule = result->rule,
    };
    uint64_t account =
        command->duplicate_account != 0 ? command->duplicate_account : access_account(command);
    struct duplicate_row row = {
        .account = account,
        .processed_at_ns = engine->t_ns,
        .outcome = duplicate_outcome(engine->sequence, result->status),
    };

    load_id(command, row.id);
    if (is_consumed) {
        duplicate_insert(&engine->duplicates, command->request_hash, &row);
        body.account_id =
            (result->members & ANSWER_HAS_ACCOUNT) != 0 ? result->account_id : account;
    }
    cc_store64(body.request_id, row.id[0]);
    cc_store64(body.request_id + 8, row.id[1]);
    effects_emit_inline(engine, EFFECT_answer, EFFECT_NO_RECORD, 0, &body);
}

/* True if key and extra have the sizes that the handlers of signed codes read. */
static bool has_lawful_parts(const struct command *command, const struct request *row)
{
    struct assertion assertion;

    if (command->kind == COMMAND_PASSKEY) {
        bool may_sign = row->signer == SIGNER_NEW_PASSKEY || row->signer == SIGNER_MASTER ||
                        row->signer == SIGNER_ADMIN || row->signer == SIGNER_SESSION_OR_MASTER;
        return may_sign && command->key_bytes == CREDENTIAL_KEY_BYTES &&
               passkey_assertion(command, &assertion);
    }
    if (command->extra_bytes != command_hash_bytes(command->code, false, command_extra(command),
                                                   command->extra_bytes) ||
        row->signer == SIGNER_NEW_PASSKEY)
        return false;
    if (row->signer == SIGNER_NEW_SECP256K1)
        return command->key_bytes == CREDENTIAL_KEY_BYTES;
    return command->key_bytes == 32 || command->key_bytes == CREDENTIAL_KEY_BYTES;
}

static bool has_whole_credential(const struct command *command)
{
    const uint8_t *id;
    uint32_t id_bytes;

    return credential_field_find(command->code, command_body(command), command_body_bytes(command),
                                 &id, &id_bytes);
}

/* True for the operator codes that the node may author too (W3b). */
static bool may_be_authored(uint16_t code)
{
    return code == REQUEST_market_define || code == REQUEST_market_state ||
           code == REQUEST_halt_all || code == REQUEST_clock_confirm;
}

bool engine_admits(const struct engine *engine, const struct command *command)
{
    const struct request *row = request_find(command->code);
    bool is_first = command->code == REQUEST_boot || command->code == REQUEST_configuration;
    bool is_signed = command->kind == COMMAND_SIGNED || command->kind == COMMAND_PASSKEY;

    if (row == NULL || !row->built || command->t_ns <= engine->t_ns)
        return false;
    if (command->code == REQUEST_find_account) /* the network thread answers it */
        return false;
    if (engine->configuration_bytes == 0 && !is_first)
        return false;
    if (command->payload_bytes < (is_signed ? REQUEST_BODY_AT : 0))
        return false;
    uint32_t body_bytes = command_body_bytes(command);
    if (row->form == BODY_FIXED ? body_bytes != row->body_bytes : body_bytes > REQUEST_BODY_MAX)
        return false;
    if (row->form == BODY_BATCH && !batch_is_whole(command))
        return false;
    if (row->form == BODY_CREDENTIAL && !has_whole_credential(command))
        return false;
    if (is_signed)
        return row->signer != SIGNER_NODE && has_lawful_parts(command, row);
    return command->kind == COMMAND_UNSIGNED &&
           (row->signer == SIGNER_NODE || may_be_authored(command->code));
}

static void begin(struct engine *engine, const struct command *command, struct engine_sink *sink)
{
    INVARIANT(command->t_ns > engine->t_ns);
    INVARIANT(engine->configuration_bytes != 0 || command->code == REQUEST_configuration ||
              command->code == REQUEST_boot);
    engine->sequence++;
    engine->t_ns = command->t_ns;
    engine->effects.count = 0;
    engine->applying = (struct applying){
        .command = command,
        .sink = sink,
        .portfolio = PORTFOLIO_NONE,
        .credential = CREDENTIAL_NONE,
        .resting = ORDER_NONE,
    };
    if (CC_LIKELY(engine->clock_step_ns == 0)) { /* else nothing is due (R9) */
        work_timers_due(engine);
        market_activate_tiers(engine);
    }
    if (CC_UNLIKELY(timer_heap_deadline(&engine->credentials.releases) <= engine->t_ns))
        credential_release_ended(engine);
    if (CC_UNLIKELY(timer_heap_deadline(&engine->withdrawals.releases) <= engine->t_ns))
        withdrawal_release_ended(engine);
    if (CC_UNLIKELY(timer_heap_deadline(&engine->portfolios.releases) <= engine->t_ns))
        portfolio_row_release(engine);
    if (engine->configuration_bytes != 0)
        duplicate_advance(&engine->duplicates, engine->t_ns / WINDOW_MS,
                          (uint32_t)state_option(engine, OPTION_exchange_clock_past_ms));
}

/* W4: the count of an authenticator is stored, whatever becomes of the command. Code 12 has stored
 * its own. */
static bool count_signature(struct engine *engine, const struct command *command)
{
    uint32_t passkey = engine->credentials.rows[engine->applying.credential].passkey;

    return passkey != PASSKEY_NONE && passkey_count(engine, passkey, command);
}

void engine_apply(struct engine *engine, const struct command *command, struct engine_sink *sink,
                  struct engine_result *result)
{
    enum access access = ACCESS_GRANTED;
    enum status status;

    begin(engine, command, sink);
    uint32_t units = (uint32_t)state_option(engine, OPTION_engine_work_per_command);
    begin_result(result, engine->sequence, engine->t_ns);
    if (command->kind == COMMAND_UNSIGNED) {
        status = dispatch_unsigned(engine, command, result, &units);
    } else {
        access = access_check(engine, command);
        if (CC_UNLIKELY(command->kind == COMMAND_PASSKEY))
            result->sign_count_fell = count_signature(engine, command);
        status = access == ACCESS_GRANTED ? dispatch_signed(engine, command, result)
                                          : access_refusal(command->code);
    }
    result->status = (uint8_t)status;
    if (CC_UNLIKELY(engine->applying.unpaid > WALK_DEBT_FREE))
        walk_debt_add(engine, engine->applying.account, engine->applying.unpaid - WALK_DEBT_FREE);
    risk_flush(engine);
    mmp_freeze(engine);
    if (command->kind != COMMAND_UNSIGNED)
        emit_answer(engine, command, access != ACCESS_UNKNOWN, result);
    work_run(engine, units);
    mmp_freeze(engine);
    if (evidence_is_wanted(command))
        evidence_end(engine, result);
    engine->applying.sink = NULL;
    engine->applying.command = NULL;
}
