/* command_sample.c - makes a data directory whose journal is a function of a seed. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hex.h"
#include "base/status.h"
#include "perp/bench/schedule.h"
#include "perp/bench/workload.h"
#include "perp/command/command.h"
#include "perp/data/sample_exchange.h"
#include "perp/invocation/choice.h"
#include "perp/print/report.h"

enum {
    ACCOUNTS = 64,
    LAG = 64, /* requests after which an order is named: those of a moment ago */
    PROGRESS = 100000,
    PRICE_TICKS = 1000000, /* 100,000.0 USDC */
    PRICE_STEP_TICKS = 20, /* of the index, at most, in a second */
    PRICE_EVERY = 1000,    /* commands: a second */
    COMMANDS_MAX = 100000000,
};

#define COMMAND_STEP_NS UINT64_C(1000000)
#define DEPOSIT_MICRO   UINT64_C(1000000000000) /* 1,000,000 USDC */

static const uint32_t weights[CORPUS_KIND_COUNT] = {
    [CORPUS_place] = 57, [CORPUS_amend] = 5, [CORPUS_cancel] = 33, [CORPUS_market] = 5
};

struct maker {
    struct context *context;
    struct sample_exchange *sample;
    struct eip712 eip712;
    struct workload workload;
    struct rig_trader traders[ACCOUNTS];
    struct sample_answer answer;
    uint64_t seed, wanted, made, accepted;
    uint64_t random; /* of the index and of the ids of operator and oracle */
};

static bool is_done(const struct maker *maker)
{
    return maker->answer.status == STATUS_request_completed ||
           maker->answer.status == STATUS_account_created_with_session;
}

static bool apply(struct maker *maker, const struct draft *draft)
{
    char error[SAMPLE_ERROR_MAX];

    sample_exchange_advance(maker->sample, COMMAND_STEP_NS);
    if (!sample_exchange_apply(maker->sample, draft, &maker->answer, error))
        return context_fail(maker->context, EXIT_CODE_problem, "%s", error);
    maker->made++;
    maker->accepted += is_done(maker);
    if (maker->made % PROGRESS == 0)
        fprintf(stderr, "bench journal: %lu of %lu commands\n", maker->made, maker->wanted);
    return true;
}

/* A request that must be accepted, signed by any key. */
static bool demand(struct maker *maker, struct draft *draft, const struct key_file *key)
{
    if (!draft_sign(draft, key, &maker->eip712))
        return context_fail(maker->context, EXIT_CODE_usage, "%s cannot be signed",
                            draft->request->name);
    return apply(maker, draft) &&
           (is_done(maker) ||
            context_fail(maker->context, EXIT_CODE_rejected, "%s: %s", draft->request->name,
                         status_name(maker->answer.status)));
}

static struct uuid next_id(struct maker *maker)
{
    uint8_t random[10];
    uint64_t now_ns = sample_exchange_now_ns(maker->sample) + COMMAND_STEP_NS;

    cc_store64(random, schedule_random(&maker->random));
    cc_store16(random + 8, (uint16_t)schedule_random(&maker->random));
    return uuid_make_v7(now_ns / 1000000, random);
}

static bool open_account(struct maker *maker, uint32_t number)
{
    struct rig_trader *trader = &maker->traders[number];
    struct uuid id = next_id(maker);
    struct key_file master;
    struct draft draft;
    uint8_t ref[32] = { 0 };

    sample_exchange_key(maker->seed, "master", number, SIGNATURE_SECP256K1, &master);
    sample_exchange_key(maker->seed, "session", number, SIGNATURE_ED25519, &trader->session);
    draft_begin(&draft, REQUEST_create_account_secp256k1, SIGNATURE_SECP256K1, &id);
    draft_set_bytes(&draft, "session_pub", trader->session.public_key, 32);
    if (!demand(maker, &draft, &master))
        return false;
    trader->account_id = maker->answer.account_id;

    struct draft_portfolio portfolio = { .account_id = trader->account_id };
    id = next_id(maker);
    cc_store32(ref, number + 1);
    draft_begin(&draft, REQUEST_deposit_credit, SIGNATURE_ED25519, &id);
    draft_set_portfolio(&draft, "portfolio_id", &portfolio);
    draft_set(&draft, "amount", DEPOSIT_MICRO);
    draft_set_bytes(&draft, "external_ref", ref, sizeof ref);
    return demand(maker, &draft, sample_exchange_operator(maker->sample));
}

/* The index makes a small step, and the orders follow it. */
static bool publish(struct maker *maker)
{
    uint64_t now_ns = sample_exchange_now_ns(maker->sample) + COMMAND_STEP_NS;
    uint64_t step = schedule_random(&maker->random) % (2 * PRICE_STEP_TICKS + 1);
    struct uuid id = next_id(maker);
    struct draft draft;

    maker->workload.mid_raw += step;
    maker->workload.mid_raw -= PRICE_STEP_TICKS;
    draft_begin(&draft, REQUEST_oracle_price, SIGNATURE_ED25519, &id);
    draft_set(&draft, "publish_ts_ns", now_ns);
    draft_set(&draft, "index_price", maker->workload.mid_raw);
    draft_set(&draft, "asset", maker->workload.record.asset_id);
    draft_set(&draft, "source_count", 1);
    return demand(maker, &draft, sample_exchange_oracle(maker->sample));
}

static bool trade(struct maker *maker)
{
    uint64_t now_ns = sample_exchange_now_ns(maker->sample) + COMMAND_STEP_NS;
    enum corpus_kind kind;
    struct draft draft;

    if (!workload_draft(&maker->workload, now_ns / 1000000, &draft, &kind))
        return context_fail(maker->context, EXIT_CODE_usage, "a request cannot be signed");
    return apply(maker, &draft);
}

/* An index first, then the accounts, then orders; fewer of them for a small number. */
static bool make_all(struct maker *maker)
{
    bool is_good = true;
    uint32_t accounts = 0;

    while (is_good && maker->made < maker->wanted) {
        if (maker->made % PRICE_EVERY == 0)
            is_good = publish(maker);
        else if (accounts < ACCOUNTS)
            is_good = open_account(maker, accounts++);
        else
            is_good = trade(maker);
    }
    return is_good;
}

static bool begin(struct maker *maker)
{
    struct workload *workload = &maker->workload;
    const char *markets = sample_exchange_markets(maker->sample);
    char error[INSTRUMENT_ERROR_MAX];

    if (!workload_init(workload, ACCOUNTS, LAG))
        return context_fail(maker->context, EXIT_CODE_usage, "no memory");
    if (!instrument_parse(&workload->record, markets, strlen(markets), "BTC-PERP", error))
        return context_fail(maker->context, EXIT_CODE_usage, "%s", error);
    eip712_init(&maker->eip712, sample_exchange_id(maker->sample));
    workload->traders = maker->traders;
    memcpy(workload->weights, weights, sizeof workload->weights);
    workload->mid_raw = PRICE_TICKS;
    workload->has_seeded_ids = true;
    workload->random = maker->seed;
    maker->random = ~maker->seed;
    return true;
}

static void set_hex(json_t *object, const char *name, const uint8_t *bytes)
{
    char text[2 * SAMPLE_HASH_BYTES + 1];

    hex_encode(text, bytes, SAMPLE_HASH_BYTES);
    (void)json_object_set_new(object, name, json_string(text));
}

static void set_key(json_t *object, const char *name, const struct key_file *key)
{
    char text[BASE64_TEXT_BYTES(32) + 1];

    base64_encode(text, key->public_key, 32);
    (void)json_object_set_new(object, name, json_string(text));
}

static void show(const struct maker *maker, const struct sample_end *end)
{
    json_t *object =
        json_pack("{s:I, s:I, s:I, s:I, s:I}", "seed", (json_int_t)maker->seed, "commands",
                  (json_int_t)maker->made, "accepted", (json_int_t)maker->accepted, "sequence",
                  (json_int_t)end->sequence, "frame", (json_int_t)end->frame);

    INVARIANT(object != NULL);
    set_hex(object, "exchange_id", sample_exchange_id(maker->sample));
    set_key(object, "operator_key", sample_exchange_operator(maker->sample));
    set_key(object, "oracle_key", sample_exchange_oracle(maker->sample));
    set_hex(object, "effects_hash", end->effects_hash);
    set_hex(object, "image_hash", end->image_hash);
    set_hex(object, "frame_hash", end->frame_hash);
    report_object(stdout, object, maker->context->arguments->json);
}

int command_bench_journal(struct context *context)
{
    static struct maker maker;
    char error[SAMPLE_ERROR_MAX];
    struct sample_end end;

    maker = (struct maker){ .context = context };
    if (!choice_number(context, FLAG_seed, 0, INT64_MAX, 1, &maker.seed) ||
        !choice_number(context, FLAG_commands, 1, COMMANDS_MAX, 1000000, &maker.wanted))
        return context->exit_code;
    maker.sample = sample_exchange_open(context->arguments->words[0], maker.seed, error);
    if (maker.sample == NULL)
        return context_fail(context, EXIT_CODE_usage, "%s", error), context->exit_code;
    if (begin(&maker) && make_all(&maker)) {
        if (sample_exchange_stop(maker.sample, &end, error))
            show(&maker, &end);
        else
            (void)context_fail(context, EXIT_CODE_problem, "%s", error);
    }
    workload_free(&maker.workload);
    sample_exchange_free(maker.sample);
    return context->exit_code;
}
