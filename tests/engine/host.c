#include "host.h"

#include "base/hash.h"
#include "base/uuid.h"
#include "engine/image/image.h"
#include "engine/state/state.h"
#include "engine/view/audit.h"
#include "rig.h"

enum { SPACE_BYTES = 8192, BODY_MAX = 4120, ACCOUNTS_MAX = 4096 };

const uint8_t host_operator_key[32] = { 1 };
const uint8_t host_oracle_key[32] = { 2 };
const uint8_t host_treasury_key[32] = { 3 };

/* json.md, J5: the record as published. */
const char host_btc_record[] =
    "{\"market\":\"BTC-PERP\",\"asset_id\":1,\"base\":\"BTC\",\"price_decimals\":1,"
    "\"size_decimals\":5,\"tick_size\":\"0.1\",\"lot_size\":\"0.00001\",\"min_size\":\"0.00001\","
    "\"max_order_size\":\"10995116.27775\",\"min_notional\":\"10\",\"impact_notional\":\"20000\","
    "\"max_leverage\":50,\"tiers\":[{\"upper_notional\":\"20000000\",\"max_leverage\":50,"
    "\"imr_ppm\":20000,\"mmr_ppm\":10000},{\"upper_notional\":\"100000000\",\"max_leverage\":25,"
    "\"imr_ppm\":40000,\"mmr_ppm\":20000},{\"upper_notional\":\"500000000\",\"max_leverage\":10,"
    "\"imr_ppm\":100000,\"mmr_ppm\":50000},{\"upper_notional\":null,\"max_leverage\":5,"
    "\"imr_ppm\":200000,\"mmr_ppm\":100000}],\"price_band_ppm\":100000,"
    "\"max_slippage_ppm\":50000,\"fees\":[{\"tier\":0,\"maker_fee_rate\":\"0.00015\","
    "\"taker_fee_rate\":\"0.00045\"},{\"tier\":1,\"maker_fee_rate\":\"0.00012\","
    "\"taker_fee_rate\":\"0.0004\"},{\"tier\":2,\"maker_fee_rate\":\"0.00008\","
    "\"taker_fee_rate\":\"0.00035\"},{\"tier\":3,\"maker_fee_rate\":\"0.00004\","
    "\"taker_fee_rate\":\"0.0003\"},{\"tier\":4,\"maker_fee_rate\":\"0\","
    "\"taker_fee_rate\":\"0.00028\"},{\"tier\":5,\"maker_fee_rate\":\"-0.00002\","
    "\"taker_fee_rate\":\"0.00026\"}],\"funding_interval_s\":3600,\"max_price\":\"1677721.5\","
    "\"state\":\"ACTIVE\"}";

/* Keys 1, 2 and 3 of the tests, in Base64. */
static const char small_tables[] =
    "engine.accounts=4096\nengine.portfolios=4096\nengine.orders=16384\nengine.positions=8192\n"
    "engine.credentials=16384\nengine.deposits=8192\nengine.ladder_pages=4096\n"
    "limits.duplicate_slots=65536\nlimits.funding_small=0\nlimits.funding_full=0\n"
    "exchange.operator_key=AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
    "exchange.oracle_keys=AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"
    "exchange.id=000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";

/* The value that `lines` gives to a key, or NULL; *count gets its length. */
static const char *value_in(const char *lines, const char *name, size_t *count)
{
    size_t name_count = strlen(name);

    for (const char *at = lines; at != NULL && *at != '\0';) {
        size_t line = strcspn(at, "\n");
        if (line > name_count && memcmp(at, name, name_count) == 0 && at[name_count] == '=') {
            *count = line - name_count - 1;
            return at + name_count + 1;
        }
        at += line + (at[line] == '\n');
    }
    return NULL;
}

static int compare_rows(const void *a, const void *b)
{
    return strcmp((*(const struct option_row *const *)a)->name,
                  (*(const struct option_row *const *)b)->name);
}

uint32_t host_configuration(const char *overrides, uint8_t body[4120])
{
    const struct option_row *rows[OPTION_COUNT];
    uint32_t row_count = 0, at = 0;

    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = option_row((enum option)i);
        if (row->engine && row->built)
            rows[row_count++] = row;
    }
    qsort(rows, row_count, sizeof rows[0], compare_rows);
    memset(body, 0, BODY_MAX);
    for (uint32_t i = 0; i < row_count; i++) {
        size_t count;
        const char *value = value_in(overrides, rows[i]->name, &count);
        if (value == NULL)
            value = value_in(small_tables, rows[i]->name, &count);
        if (value == NULL) {
            value = rows[i]->initial;
            count = strlen(value);
        }
        at += (uint32_t)snprintf((char *)body + at, BODY_MAX - at, "%s=%.*s\n", rows[i]->name,
                                 (int)count, value);
        CHECK(at < BODY_MAX);
    }
    return (at + 7) & ~7u;
}

static void keep_effect(struct engine_sink *sink, const struct effect *effect)
{
    struct host *host = (void *)sink;

    watch_effect(&host->watch, effect);
    CHECK(host->effect_count < HOST_EFFECTS_MAX);
    CHECK(effect->index == host->effect_count);
    CHECK(effect->engine == host->engine);
    struct host_effect *kept = &host->effects[host->effect_count++];
    *kept = (struct host_effect){ .code = effect->code,
                                  .asset_id = effect->asset_id,
                                  .index = effect->index,
                                  .sequence = effect->sequence,
                                  .record = effect->record };
    memcpy(kept->bytes, effect->bytes, sizeof kept->bytes);
}

void host_open_for(struct host *host, const struct option_engine *capacity, const char *overrides)
{
    static const uint8_t key[MIX_KEY_BYTES] = { 7, 1, 9, 3, 8, 8, 1 };
    struct option_engine own;
    uint8_t body[BODY_MAX];

    memset(host, 0, sizeof *host);
    if (capacity == NULL) {
        CHECK(option_parse_engine(&own, body, host_configuration(overrides, body)));
        capacity = &own;
    }
    host->sink.emit = keep_effect;
    host->key = mix_key_load(key);
    host->clock_ns = HOST_START_NS;
    host->bytes = engine_bytes(capacity);
    host->memory = rig_memory(host->bytes);
    host->engine = engine_init(host->memory, host->bytes, host->key, capacity);
    host->watch.capacity = host->engine->portfolios.slots;
    host->watch.rows = calloc(host->watch.capacity, sizeof *host->watch.rows);
    CHECK(host->watch.rows != NULL);
}

void host_open_bare(struct host *host, const char *overrides)
{
    host_open_for(host, NULL, overrides);
}

void host_open(struct host *host, const char *overrides)
{
    uint8_t body[BODY_MAX], boot[24] = { 1, 0, 0, 0, 0, 0, 0, 0, ENGINE_RULES_VERSION };

    host_open_bare(host, overrides);
    CHECK(host_unsigned(host, REQUEST_boot, boot, sizeof boot) == STATUS_request_completed);
    CHECK(host_unsigned(host, REQUEST_configuration, body, host_configuration(overrides, body)) ==
          STATUS_request_completed);
    CHECK(host_market(host, host_btc_record) == STATUS_request_completed);
}

void host_close(struct host *host)
{
    free(host->watch.rows);
    rig_free(host->memory, host->bytes);
}

/* The header of W3's payload does not reach the engine's decisions: zeros will do. */
static void fill(struct command *command, const struct host_request *request, const uint8_t id[16])
{
    uint8_t *at = command->bytes;

    command->code = request->code;
    command->kind = request->kind;
    command->flags = request->flags;
    if (request->kind != COMMAND_UNSIGNED) {
        memcpy(at + REQUEST_HEADER_BYTES, id, REQUEST_ID_BYTES);
        at += REQUEST_BODY_AT;
    }
    memcpy(at, request->body, request->body_bytes);
    at += request->body_bytes;
    command->payload_bytes = (uint16_t)(at - command->bytes);
    if (request->kind == COMMAND_UNSIGNED)
        return;
    memcpy(at, request->key, request->key_bytes);
    command->key_bytes = (uint16_t)request->key_bytes;
    at += request->key_bytes + SIGNATURE_BYTES;
    if (request->extra_bytes != 0)
        memcpy(at, request->extra, request->extra_bytes);
    command->extra_bytes = (uint16_t)request->extra_bytes;
}

/* W5: whose id it is, and its keyed hash. */
static void fill_hashes(const struct host *host, struct command *command)
{
    uint8_t hash[HASH_BYTES];
    uint64_t account = cc_load64(command_body(command));

    if (command->code == REQUEST_create_account_secp256k1 ||
        command->code == REQUEST_create_account_passkey || command->code >= REQUEST_oracle_price) {
        hash_blake2b256(hash, command_key(command), command->key_bytes);
        command->duplicate_account = cc_load64(hash) | UINT64_C(1) << 63;
        account = command->duplicate_account;
    }
    command->request_hash =
        mix_id(host->key, account_id_hashed(account), command_request_id(command));
    if (command->code == REQUEST_order_cancel || command->code == REQUEST_order_reduction ||
        command->code == REQUEST_order_replacement ||
        command->code == REQUEST_conditional_order_cancel)
        command->target_hash =
            mix_id(host->key, account_id_hashed(account), command_body(command) + 16);
}

/* Another engine in the same state peeks at the same, and applies what is sequenced. */
static void mirror_peek(struct host *mirror, const struct host *host, const struct command *command)
{
    bool is_peeked = engine_peek(mirror->engine, command, command->t_ns, &mirror->result);

    CHECK(is_peeked == host->is_peeked);
    CHECK(!is_peeked || memcmp(&mirror->result, &host->result, sizeof host->result) == 0);
}

/* Effects may differ in the index of a record alone: it is no part of the state. The sink of the
 * mirror ignores all effects of every second command: the lanes are then folded another way. */
static void mirror_apply(struct host *mirror, const struct host *host,
                         const struct command *command)
{
    mirror->effect_count = 0;
    mirror->sink.ignores = (host->result.sequence & 1) != 0 ? UINT32_MAX : 0;
    engine_apply(mirror->engine, command, &mirror->sink, &mirror->result);
    CHECK(memcmp(&mirror->result, &host->result, sizeof host->result) == 0);
    CHECK(memcmp(mirror->engine->effects.lanes, host->engine->effects.lanes,
                 sizeof host->engine->effects.lanes) == 0);
    CHECK(mirror->effect_count == (mirror->sink.ignores != 0 ? 0 : host->effect_count));
    for (uint32_t i = 0; i < mirror->effect_count; i++) {
        const struct host_effect *a = &host->effects[i], *b = &mirror->effects[i];
        CHECK(a->code == b->code && a->asset_id == b->asset_id && a->sequence == b->sequence);
        CHECK(memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0);
    }
    mirror->clock_ns = host->clock_ns;
}

static enum status run(struct host *host, const struct host_request *request)
{
    alignas(16) uint8_t space[SPACE_BYTES];
    struct command *command = (void *)space;

    memset(space, 0, sizeof space);
    fill(command, request, host->id);
    if (request->kind != COMMAND_UNSIGNED)
        fill_hashes(host, command);
    command->t_ns = engine_time_next(host->engine, host->clock_ns);
    host->clock_ns = command->t_ns;
    host->effect_count = 0;
    host->is_peeked = engine_peek(host->engine, command, command->t_ns, &host->result);
    if (host->mirror != NULL)
        mirror_peek(host->mirror, host, command);
    if (!host->is_peeked) {
        uint64_t before = engine_sequence(host->engine);
        CHECK(engine_admits(host->engine, command));
        if (!host->skip_audit)
            watch_begin(&host->watch, host->engine);
        engine_apply(host->engine, command, &host->sink, &host->result);
        CHECK(host->result.sequence == before + 1);
        CHECK(engine_sequence(host->engine) == before + 1);
        CHECK(engine_time(host->engine) == command->t_ns);
        if (host->mirror != NULL)
            mirror_apply(host->mirror, host, command);
        struct audit_verdict verdict;
        bool holds = watch_end(&host->watch, host->engine, command, &verdict);
        if (!holds)
            fprintf(stderr, "code %u failed 0x%x\n", command->code, verdict.failed);
        CHECK(holds);
        if (!host->skip_audit)
            CHECK(audit_holds(host->engine));
    }
    return (enum status)host->result.status;
}

enum status host_unsigned(struct host *host, uint16_t code, const void *body, uint32_t body_bytes)
{
    struct host_request request = { .code = code, .body = body, .body_bytes = body_bytes };

    CHECK(request.kind == COMMAND_UNSIGNED);
    return run(host, &request);
}

enum status host_signed(struct host *host, const struct host_request *request)
{
    struct host_request copy = *request;
    uint8_t random[10] = { 0 };

    if (copy.kind == COMMAND_UNSIGNED) /* as it is when left out */
        copy.kind = COMMAND_SIGNED;
    if (host->wants_evidence)
        copy.flags |= COMMAND_WANTS_EVIDENCE;
    if (request->id != NULL) {
        memcpy(host->id, request->id, sizeof host->id);
    } else {
        uint64_t clock_ns = engine_time_next(host->engine, host->clock_ns);
        cc_store64(random, ++host->id_count);
        struct uuid id = uuid_make_v7(clock_ns / 1000000, random);
        memcpy(host->id, id.bytes, sizeof host->id);
    }
    return run(host, &copy);
}

enum status host_market(struct host *host, const char *json)
{
    uint8_t body[BODY_MAX] = { 0 };
    size_t count = strlen(json);

    CHECK(count <= sizeof body);
    memcpy(body, json, count);
    return host_unsigned(host, REQUEST_market_define, body, (uint32_t)((count + 7) & ~7u));
}

void host_master_key(uint32_t n, uint8_t key[33])
{
    memset(key, 0xA5, 33);
    key[0] = 2;
    cc_store32(key + 1, n);
}

void host_session_key(uint32_t n, uint8_t key[32])
{
    memset(key, 0x5A, 32);
    cc_store32(key, n);
}

enum status host_sign_up(struct host *host, uint32_t n)
{
    uint8_t body[80] = { 0 }, key[33];

    host_session_key(n, body);
    host_master_key(n, key);
    struct host_request request = { .code = REQUEST_create_account_secp256k1,
                                    .flags = COMMAND_SESSION_KEY_VALID,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = sizeof key };
    return host_signed(host, &request);
}

uint64_t host_account(struct host *host, uint32_t n)
{
    CHECK(host_sign_up(host, n) == STATUS_account_created_with_session);
    return host->result.account_id;
}

enum status host_deposit(struct host *host, uint64_t account, uint64_t amount)
{
    uint8_t body[56] = { 0 };

    cc_store64(body, account);
    cc_store64(body + 16, amount);
    cc_store64(body + 24, ++host->id_count);
    struct host_request request = { .code = REQUEST_deposit_credit,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = host_operator_key,
                                    .key_bytes = 32 };
    return host_signed(host, &request);
}

enum status host_oracle(struct host *host, uint16_t asset, uint64_t price)
{
    uint8_t body[24] = { 0 };

    cc_store64(body, engine_time_next(host->engine, host->clock_ns));
    cc_store64(body + 8, price);
    cc_store16(body + 16, asset);
    cc_store16(body + 20, 3);
    struct host_request request = { .code = REQUEST_oracle_price,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = host_oracle_key,
                                    .key_bytes = 32 };
    return host_signed(host, &request);
}

/* Accounts are made in order from 1: account n of the keys has id n when that is all there is. */
static enum status trade(struct host *host, uint16_t code, uint32_t n, uint8_t *body,
                         uint32_t body_bytes)
{
    uint8_t key[32];

    host_session_key(n, key);
    cc_store64(body, n);
    struct host_request request = {
        .code = code, .body = body, .body_bytes = body_bytes, .key = key, .key_bytes = sizeof key
    };
    return host_signed(host, &request);
}

enum status host_limit(struct host *host, uint32_t n, const struct host_order *order)
{
    uint8_t body[48] = { 0 };

    cc_store64(body + 16, order->price);
    cc_store64(body + 24, (uint64_t)order->quantity);
    cc_store64(body + 32, order->expiry);
    body[40] = order->post_only;
    body[41] = order->reduce_only;
    body[42] = order->stp;
    cc_store16(body + 44, order->asset != 0 ? order->asset : HOST_BTC);
    return trade(host, REQUEST_place_limit_order, n, body, sizeof body);
}

enum status host_cancel(struct host *host, uint32_t n, const uint8_t id[16])
{
    uint8_t body[40] = { 0 };

    memcpy(body + 16, id, 16);
    cc_store16(body + 32, HOST_BTC);
    return trade(host, REQUEST_order_cancel, n, body, sizeof body);
}

enum status host_cancel_all(struct host *host, uint32_t n, uint16_t asset, uint8_t side)
{
    uint8_t body[24] = { 0 };

    cc_store32(body + 12, UINT32_MAX);
    cc_store16(body + 16, asset);
    body[20] = side;
    return trade(host, REQUEST_cancel_all_orders, n, body, sizeof body);
}

void host_tick(struct host *host, uint64_t later_ns)
{
    uint8_t body[8] = { 0 };

    host->clock_ns += later_ns;
    CHECK(host_unsigned(host, REQUEST_tick, body, sizeof body) == STATUS_request_completed);
}

const struct host_effect *host_effect(const struct host *host, enum effect_code code, uint32_t k)
{
    for (uint32_t i = 0; i < host->effect_count; i++)
        if (host->effects[i].code == code && k-- == 0)
            return &host->effects[i];
    return NULL;
}

struct hash_sink {
    struct image_sink sink; /* first */
    struct hash_state hash;
};

static void hash_bytes(struct image_sink *sink, const void *bytes, size_t count)
{
    struct hash_sink *own = (void *)sink;

    hash_add(&own->hash, bytes, count);
}

void host_image_hash(const struct host *host, uint8_t hash[32])
{
    struct hash_sink sink = { .sink = { .section = NULL, .bytes = hash_bytes } };

    hash_begin(&sink.hash);
    engine_image(host->engine, &sink.sink);
    hash_end(&sink.hash, hash);
}
