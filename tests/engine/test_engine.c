/* The peek, duplicates, sequencing and configuration of the engine (R11 rows 0 to 3, W5, W3b). */
#include "base/uuid.h"
#include "engine/engine.h"
#include "engine/state/state.h"
#include "host.h"
#include "passkeys.h"
#include "rig.h"

static struct host host;

#define MS UINT64_C(1000000)

static void id_dated(uint64_t ms, uint8_t salt, uint8_t id[16])
{
    uint8_t random[10] = { salt, 0x77 };
    struct uuid uuid = uuid_make_v7(ms, random);
    memcpy(id, uuid.bytes, 16);
}

/* Code 14 of account 1 about a session that does not exist: cheap, signed by the master. */
static enum status revoke_with_id(const uint8_t id[16], uint32_t n)
{
    uint8_t body[40] = { 1 }, key[33];

    host_master_key(n, key);
    memset(body + 8, 0xEE, 32);
    struct host_request request = { .code = REQUEST_revoke_session,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = key,
                                    .key_bytes = sizeof key,
                                    .id = id };
    return host_signed(&host, &request);
}

/* R3: t = max(previous + 1, clock). */
static void test_time(void)
{
    host_open(&host, NULL);
    uint64_t t = engine_time(host.engine);
    CHECK(engine_time_next(host.engine, t - 5) == t + 1);
    CHECK(engine_time_next(host.engine, t) == t + 1);
    CHECK(engine_time_next(host.engine, t + 1) == t + 1);
    CHECK(engine_time_next(host.engine, t + 900) == t + 900);
    CHECK(engine_sequence(host.engine) == 3); /* journal.md: 2014, 2013, one 1001 */
    host_close(&host);
}

/* W5: t_ms - past - 5,000 <= id_ms <= t_ms + future + 5,000, past 30,000 and future 5,000. */
static void test_window(void)
{
    static const struct row {
        int line;
        const char *name;
        int64_t from_now_ms;
        enum status want;
    } rows[] = {
        { __LINE__, "oldest", -35000, STATUS_session_rejected },
        { __LINE__, "too old", -35001, STATUS_request_dropped },
        { __LINE__, "furthest", 10000, STATUS_session_rejected },
        { __LINE__, "too far", 10001, STATUS_request_dropped },
        { __LINE__, "now", 0, STATUS_session_rejected },
    };
    host_open(&host, NULL);
    (void)host_account(&host, 1);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        uint8_t id[16];
        host.clock_ns = (host.clock_ns / MS + 2) * MS + 999999; /* parts of a ms do not count */
        uint64_t before = engine_sequence(host.engine);
        id_dated((uint64_t)((int64_t)(host.clock_ns / MS) + rows[i].from_now_ms), (uint8_t)i, id);
        CHECK_ROW(&rows[i], revoke_with_id(id, 1) == rows[i].want);
        bool is_dropped = rows[i].want == STATUS_request_dropped;
        CHECK_ROW(&rows[i], host.is_peeked == is_dropped);
        CHECK_ROW(&rows[i], engine_sequence(host.engine) == before + !is_dropped);
        CHECK_ROW(&rows[i], !is_dropped || host.result.sequence == 0);
        CHECK_ROW(&rows[i], host.result.processed_at_ns == host.clock_ns);
    }
    host_close(&host);
}

/* A peek reads only: no sequence, no timer, no work (R11). */
static void test_peek_changes_nothing(void)
{
    uint8_t id[16], before[32], after[32];

    host_open(&host, NULL);
    (void)host_account(&host, 1);
    id_dated(host.clock_ns / MS, 1, id);
    CHECK(revoke_with_id(id, 1) == STATUS_session_rejected);
    uint64_t processed = host.result.processed_at_ns;
    host_image_hash(&host, before);
    host.clock_ns += 20 * HOST_SECOND_NS;
    CHECK(revoke_with_id(id, 1) == STATUS_duplicate_request_id);
    CHECK(host.is_peeked && host.effect_count == 0 && host.result.sequence == 0);
    CHECK(host.result.members == ANSWER_HAS_ORIGINAL);
    CHECK(host.result.original_status == STATUS_session_rejected);
    CHECK(host.result.original_processed_at_ns == processed);
    host_image_hash(&host, after);
    CHECK(memcmp(before, after, sizeof before) == 0);
    host_close(&host);
}

/* W5: the id is unused when row 3 finds the key unknown; R11 row 3 for 14 is session_rejected. */
static void test_unknown_key_leaves_the_id(void)
{
    uint8_t id[16];

    host_open(&host, NULL);
    CHECK(host_account(&host, 1) == 1); /* R1: users start at 1 */
    id_dated(host.clock_ns / MS, 9, id);
    uint64_t before = engine_sequence(host.engine);
    CHECK(revoke_with_id(id, 77) == STATUS_session_rejected);
    CHECK(engine_sequence(host.engine) == before + 1); /* later rows are sequenced */
    CHECK(revoke_with_id(id, 77) == STATUS_session_rejected && !host.is_peeked);
    CHECK(revoke_with_id(id, 1) == STATUS_session_rejected && !host.is_peeked);
    CHECK(revoke_with_id(id, 1) == STATUS_duplicate_request_id);
    /* An unknown key never learns that the id was seen: it goes to row 3. */
    CHECK(revoke_with_id(id, 77) == STATUS_session_rejected && !host.is_peeked);
    host_close(&host);
}

/* The key of the set is (account, id): two accounts may use one id. */
static void test_same_id_of_two_accounts(void)
{
    uint8_t id[16], key[32], body[48] = { 0 };

    host_open(&host, NULL);
    (void)host_account(&host, 1);
    (void)host_account(&host, 2);
    id_dated(host.clock_ns / MS, 5, id);
    for (uint32_t n = 1; n <= 2; n++) {
        host_session_key(n, key);
        cc_store64(body, n);
        struct host_request request = { .code = REQUEST_place_limit_order,
                                        .body = body,
                                        .body_bytes = sizeof body,
                                        .key = key,
                                        .key_bytes = 32,
                                        .id = id };
        CHECK(host_signed(&host, &request) == STATUS_order_rejected_invalid_market);
        CHECK(host_signed(&host, &request) == STATUS_duplicate_request_id);
        CHECK(host.result.original_status == STATUS_order_rejected_invalid_market);
    }
    host_close(&host);
}

static enum status cancel_all_with_id(const uint8_t id[16], uint64_t account)
{
    uint8_t body[40] = { 0 }, key[32];

    cc_store64(body, account);
    cc_store16(body + 16, UINT16_MAX); /* of all markets */
    host_session_key((uint32_t)account, key);
    struct host_request request = { .code = REQUEST_cancel_all_orders,
                                    .id = id,
                                    .body = body,
                                    .body_bytes = 24,
                                    .key = key,
                                    .key_bytes = sizeof key };
    return host_signed(&host, &request);
}

/* Row 2: retry_required, and the id is unused; the last eighth is there for cancels. */
static void test_set_is_full(void)
{
    uint8_t id[16];

    host_open(&host, "limits.duplicate_slots=1024\n");
    host.skip_audit = true;
    (void)host_account(&host, 1);
    for (uint32_t i = 1; i < 896; i++) {
        id_dated(host.clock_ns / MS, 0, id);
        cc_store32(id + 9, i);
        CHECK(revoke_with_id(id, 1) == STATUS_session_rejected);
    }
    id_dated(host.clock_ns / MS, 200, id);
    uint64_t before = engine_sequence(host.engine);
    CHECK(revoke_with_id(id, 1) == STATUS_retry_required);
    CHECK(engine_sequence(host.engine) == before && host.result.sequence == 0);
    for (uint32_t i = 896; i < 1024; i++) {
        id_dated(host.clock_ns / MS, 0, id);
        cc_store32(id + 9, i);
        CHECK(cancel_all_with_id(id, 1) == STATUS_request_completed);
    }
    id_dated(host.clock_ns / MS, 201, id);
    CHECK(cancel_all_with_id(id, 1) == STATUS_retry_required && host.is_peeked);
    id_dated(host.clock_ns / MS, 200, id);
    host.clock_ns += 41 * HOST_SECOND_NS; /* past + future + 10 s: all are forgotten */
    host_tick(&host, 0);                  /* by a sequenced command only */
    id_dated(host.clock_ns / MS, 201, id);
    CHECK(revoke_with_id(id, 1) == STATUS_session_rejected);
    host_close(&host);
}

/* Row 2: an account has the ids of its grant, whatever it does with them; its next ones leave no
 * trace until the window has passed over the first, another account's are not touched, and what is
 * loaded counts as before. */
static void test_share_of_ids(void)
{
    uint8_t id[16];

    host_open(&host, NULL);
    engine_set_grant(host.engine, 10);
    (void)host_account(&host, 1); /* its ids are derived from its key */
    (void)host_account(&host, 2);
    for (uint32_t i = 1; i <= 10; i++) {
        id_dated(host.clock_ns / MS, (uint8_t)i, id);
        CHECK((i % 2 == 0 ? revoke_with_id(id, 1) == STATUS_session_rejected
                          : cancel_all_with_id(id, 1) == STATUS_request_completed));
    }
    uint64_t before = engine_sequence(host.engine);
    id_dated(host.clock_ns / MS, 11, id);
    CHECK(revoke_with_id(id, 1) == STATUS_rejected_rate_limited && host.is_peeked);
    CHECK(cancel_all_with_id(id, 1) == STATUS_rejected_rate_limited && host.is_peeked);
    CHECK(engine_sequence(host.engine) == before && host.result.sequence == 0);
    /* Known for past and slack, counted for a twelfth of the window of 45 s and slices more. */
    CHECK(host.result.retry_after_ms > 30000 && host.result.retry_after_ms <= 35000 + 4128);
    CHECK(cancel_all_with_id(id, 2) == STATUS_request_completed);
    id_dated(host.clock_ns / MS, 3, id); /* seen: row 1 comes first */
    CHECK(revoke_with_id(id, 1) == STATUS_duplicate_request_id);
    host.clock_ns += 40 * HOST_SECOND_NS;
    host_tick(&host, 0);
    id_dated(host.clock_ns / MS, 11, id);
    CHECK(revoke_with_id(id, 1) == STATUS_session_rejected);
    CHECK(duplicate_count(&host.engine->duplicates, 1) == 1);
    host_close(&host);
}

/* Row 0 comes before row 1, row 1 before row 2. */
static void test_row_order(void)
{
    uint8_t old[16], seen[16];

    host_open(&host, "limits.duplicate_slots=1024\n");
    host.skip_audit = true;
    (void)host_account(&host, 1);
    id_dated(host.clock_ns / MS, 0, seen);
    CHECK(revoke_with_id(seen, 1) == STATUS_session_rejected);
    for (uint32_t i = 2; i < 896; i++) {
        uint8_t id[16];
        id_dated(host.clock_ns / MS, 1, id);
        cc_store32(id + 9, i);
        CHECK(revoke_with_id(id, 1) == STATUS_session_rejected);
    }
    CHECK(revoke_with_id(seen, 1) == STATUS_duplicate_request_id); /* full, and seen: 1 */
    id_dated(host.clock_ns / MS - 40000, 3, old);
    CHECK(revoke_with_id(old, 1) == STATUS_request_dropped); /* full, and out of the window: 0 */
    host_close(&host);
}

/* 2100 comes after the command's own effects and names the account of the key (W3c). */
static void test_answer_effect(void)
{
    struct effect_answer body;

    host_open(&host, NULL);
    uint64_t account = host_account(&host, 1);
    const struct host_effect *effect = host_effect(&host, EFFECT_answer, 0);
    CHECK(effect != NULL && effect->index == host.effect_count - 1);
    memcpy(&body, effect->bytes, sizeof body);
    CHECK(memcmp(body.request_id, host.id, 16) == 0);
    CHECK(body.account_id == account); /* a completed 11: the new account */
    CHECK(body.status == STATUS_account_created_with_session && body.reason == 0);
    CHECK(body.item == 255);
    CHECK(host_deposit(&host, account, 5) == STATUS_request_completed);
    memcpy(&body, host_effect(&host, EFFECT_answer, 0)->bytes, sizeof body);
    CHECK(body.account_id >> 63 == 1); /* W5: derived from the operator's key */
    CHECK(host_effect(&host, EFFECT_answer, 1) == NULL);
    host_tick(&host, 1);
    CHECK(host_effect(&host, EFFECT_answer, 0) == NULL); /* no request, no answer */
    host_close(&host);
}

/* journal.md: each effect's eight words go into eight lanes; checked against this straight form. */
static void fold_by_hand(uint64_t lanes[8])
{
    for (uint32_t i = 0; i < host.effect_count; i++) {
        uint64_t words[8];
        words[0] = host.effects[i].code + ((uint64_t)host.effects[i].index << 32);
        words[1] = host.effects[i].sequence;
        memcpy(words + 2, host.effects[i].bytes, 48);
        for (unsigned w = 0; w < 8; w++) {
            uint64_t x = lanes[w] ^ words[w];
            lanes[w] = (x << 29 | x >> 35) * UINT64_C(0x9E3779B97F4A7C15);
        }
    }
}

static void test_lanes(void)
{
    uint64_t want[8] = { 0 }, have[8];
    uint8_t body[4120], boot[24] = { 1 };

    host_open_bare(&host, NULL);
    CHECK(host_unsigned(&host, REQUEST_boot, boot, sizeof boot) == STATUS_request_completed);
    fold_by_hand(want);
    CHECK(host_unsigned(&host, REQUEST_configuration, body, host_configuration(NULL, body)) ==
          STATUS_request_completed);
    fold_by_hand(want);
    engine_effects_lanes(host.engine, have);
    CHECK(memcmp(have, (uint64_t[8]){ 0 }, sizeof have) == 0); /* nothing was caused */
    CHECK(host_market(&host, host_btc_record) == STATUS_request_completed);
    CHECK(host.effect_count > 0);
    fold_by_hand(want);
    uint64_t account = host_account(&host, 1);
    fold_by_hand(want);
    CHECK(host_deposit(&host, account, HOST_USDC) == STATUS_request_completed);
    fold_by_hand(want);
    engine_effects_lanes(host.engine, have);
    CHECK(memcmp(have, want, sizeof have) == 0);
    host_close(&host);
}

/* roles.md, Configuration: capacities may grow, never below use; what is refused changes
 * nothing; strictness of the body is option.c's own test. */
static void test_configuration(void)
{
    uint8_t body[4120], before[4120];
    size_t bytes;

    host_open(&host, NULL);
    for (uint32_t n = 1; n <= 20; n++)
        (void)host_account(&host, n);
    memcpy(before, engine_configuration(host.engine, &bytes), sizeof before);
    CHECK(bytes == host_configuration(NULL, body) && memcmp(before, body, bytes) == 0);
    uint32_t count = host_configuration("engine.accounts=20\n", body); /* 21 with account 0 */
    CHECK(host_unsigned(&host, REQUEST_configuration, body, count) ==
          STATUS_order_rejected_invalid);
    CHECK(memcmp(engine_configuration(host.engine, &bytes), before, sizeof before) == 0);
    count = host_configuration("engine.accounts=22\n", body);
    CHECK(host_unsigned(&host, REQUEST_configuration, body, count) == STATUS_request_completed);
    CHECK(engine_options(host.engine)->values[OPTION_engine_accounts] == 22);
    (void)host_account(&host, 21);
    uint8_t key[33], account[80] = { 0 };
    host_master_key(22, key);
    host_session_key(22, account);
    struct host_request request = { .code = REQUEST_create_account_secp256k1,
                                    .flags = COMMAND_SESSION_KEY_VALID,
                                    .body = account,
                                    .body_bytes = sizeof account,
                                    .key = key,
                                    .key_bytes = sizeof key };
    CHECK(host_signed(&host, &request) == STATUS_creation_rejected); /* table full */
    count = host_configuration(NULL, body);
    CHECK(host_unsigned(&host, REQUEST_configuration, body, count) == STATUS_request_completed);
    CHECK(host_signed(&host, &request) == STATUS_account_created_with_session);
    body[0] = 'x';
    CHECK(host_unsigned(&host, REQUEST_configuration, body, count) ==
          STATUS_order_rejected_invalid);
    host_close(&host);
}

/* The session of account n once more. */
static void begin_session(uint32_t n)
{
    uint8_t body[56] = { (uint8_t)n }, master[33];

    host_master_key(n, master);
    host_session_key(n, body + 8);
    memset(body + 48, 0xFF, 4); /* no pin */
    struct host_request request = { .code = REQUEST_create_session,
                                    .flags = COMMAND_SESSION_KEY_VALID,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = master,
                                    .key_bytes = sizeof master };
    CHECK(host_signed(&host, &request) == STATUS_session_created);
}

/* Every code that request.h calls built has a handler: without one the dispatch aborts. */
static void test_every_built_code(void)
{
    uint8_t body[4120], master[33], session[32], hash[32] = { 1 };
    size_t count;
    const struct request *rows = request_table(&count);

    host_open(&host, NULL);
    (void)host_account(&host, 1);
    host_master_key(1, master);
    host_session_key(1, session);
    for (size_t i = 0; i < count; i++) {
        if (!rows[i].built || rows[i].code == REQUEST_configuration || /* test_configuration */
            rows[i].code == REQUEST_find_account)                      /* no command */
            continue;
        memset(body, 0, sizeof body);
        body[0] = 1; /* account 1, where an account stands */
        uint32_t bytes = rows[i].form == BODY_BATCH ? 24 : 8;
        bytes = rows[i].body_bytes != 0 ? rows[i].body_bytes : bytes;
        if (rows[i].form == BODY_CREDENTIAL) { /* with an id of one byte (wire.md W3) */
            uint32_t length_at = rows[i].code == REQUEST_add_scoped_passkey_master_key ? 50 : 42;
            cc_store16(body + length_at, 1);
            bytes = length_at + 6;
        }
        uint64_t before = engine_sequence(host.engine);
        if (rows[i].signer == SIGNER_NODE) {
            (void)host_unsigned(&host, rows[i].code, body, bytes);
        } else {
            struct passkeys_signer passkey = { .n = 7 };
            bool is_operator = rows[i].signer == SIGNER_OPERATOR;
            bool makes_secret =
                rows[i].code == REQUEST_create_api_key || rows[i].code == REQUEST_login;
            bool is_master = rows[i].signer == SIGNER_MASTER || /* 15 ends the session */
                             rows[i].signer == SIGNER_ADMIN ||
                             rows[i].signer == SIGNER_SESSION_OR_MASTER ||
                             rows[i].signer == SIGNER_NEW_SECP256K1;
            struct host_request request = { .code = rows[i].code,
                                            .body = body,
                                            .body_bytes = bytes,
                                            .key = is_operator ? host_operator_key
                                                   : is_master ? master
                                                               : session,
                                            .key_bytes = is_master ? 33 : 32,
                                            .extra = hash,
                                            .extra_bytes = makes_secret ? 32 : 0 };
            if (rows[i].code == REQUEST_oracle_price)
                request.key = host_oracle_key;
            if (rows[i].signer == SIGNER_NEW_PASSKEY)
                request = passkeys_request(&passkey, rows[i].code, body, bytes, NULL);
            CHECK(host_signed(&host, &request) != STATUS_rejected_unauthorized);
        }
        CHECK(engine_sequence(host.engine) == before + 1);
        if (rows[i].code == REQUEST_revoke_all_sessions)
            begin_session(1); /* the codes behind it are signed with it */
    }
    host_close(&host);
}

/* A longer window of a later 2013 does not bring back what was forgotten under the shorter one: an
 * id dated before it is refused, not executed a second time. */
static void test_window_grows(void)
{
    static const char wide[] = "exchange.clock_past_ms=60000\n";
    uint8_t body[4120], boot[24] = { 1, 0, 0, 0, 0, 0, 0, 0, ENGINE_RULES_VERSION }, id[16];

    host_open_bare(&host, wide);
    CHECK(host_unsigned(&host, REQUEST_boot, boot, sizeof boot) == STATUS_request_completed);
    CHECK(host_unsigned(&host, REQUEST_configuration, body, host_configuration(NULL, body)) ==
          STATUS_request_completed);
    (void)host_account(&host, 1);
    id_dated(host.clock_ns / MS, 1, id);
    uint64_t dated_ns = host.clock_ns;
    CHECK(revoke_with_id(id, 1) == STATUS_session_rejected);
    host_tick(&host, 45 * HOST_SECOND_NS);
    CHECK(host_unsigned(&host, REQUEST_configuration, body, host_configuration(wide, body)) ==
          STATUS_request_completed);
    CHECK(host.clock_ns - dated_ns < 60 * HOST_SECOND_NS);
    CHECK(revoke_with_id(id, 1) == STATUS_request_dropped && host.is_peeked);
    id_dated(host.clock_ns / MS - 34000, 2, id); /* what was not forgotten is not refused */
    CHECK(revoke_with_id(id, 1) == STATUS_session_rejected);
    host_close(&host);
}

/* Two engines given the same commands are bit-identical, and the image says so. */
static void test_two_engines(void)
{
    static struct host other;
    uint8_t a[32], b[32];

    host_open(&host, NULL);
    host_open(&other, NULL);
    for (uint32_t n = 1; n <= 3; n++) {
        CHECK(host_account(&host, n) == host_account(&other, n));
        CHECK(host_deposit(&host, n, 1000 * HOST_USDC) ==
              host_deposit(&other, n, 1000 * HOST_USDC));
    }
    host_image_hash(&host, a);
    host_image_hash(&other, b);
    CHECK(memcmp(a, b, sizeof a) == 0);
    host_tick(&other, 1);
    host_image_hash(&other, b);
    CHECK(memcmp(a, b, sizeof a) != 0);
    host_close(&host);
    host_close(&other);
}

/* A record that another binary wrote, or that is not whole, is refused, never applied. */
static void test_admits(void)
{
    static const struct admit_row {
        int line;
        const char *name;
        uint16_t code, payload_bytes, key_bytes, extra_bytes;
        uint8_t kind;
        int64_t later_ns;
        bool admitted;
    } rows[] = {
        { __LINE__, "a tick", REQUEST_tick, 8, 0, 0, COMMAND_UNSIGNED, 1, true },
        { __LINE__, "t must rise", REQUEST_tick, 8, 0, 0, COMMAND_UNSIGNED, 0, false },
        { __LINE__, "no body", REQUEST_tick, 0, 0, 0, COMMAND_UNSIGNED, 1, false },
        { __LINE__, "nobody signs it", REQUEST_tick, 32, 32, 0, COMMAND_SIGNED, 1, false },
        { __LINE__, "no such code", 999, 8, 0, 0, COMMAND_UNSIGNED, 1, false },
        { __LINE__, "the network thread answers it", REQUEST_find_account, REQUEST_BODY_AT + 8, 33,
          0, COMMAND_SIGNED, 1, false },
        { __LINE__, "a state by the node", REQUEST_market_state, 8, 0, 0, COMMAND_UNSIGNED, 1,
          true },
        { __LINE__, "a halt by the node", REQUEST_halt_all, 8, 0, 0, COMMAND_UNSIGNED, 1, true },
        { __LINE__, "a state, signed", REQUEST_market_state, 32, 32, 0, COMMAND_SIGNED, 1, true },
        { __LINE__, "unsigned deposit", REQUEST_deposit_credit, 56, 0, 0, COMMAND_UNSIGNED, 1,
          false },
        { __LINE__, "a whole record", REQUEST_market_define, 4120, 0, 0, COMMAND_UNSIGNED, 1,
          true },
        { __LINE__, "too long", REQUEST_configuration, 4128, 0, 0, COMMAND_UNSIGNED, 1, false },
        { __LINE__, "an order", REQUEST_place_limit_order, 72, 32, 0, COMMAND_SIGNED, 1, true },
        { __LINE__, "no passkey signs it", REQUEST_place_limit_order, 72, 32, 0, COMMAND_PASSKEY, 1,
          false },
        { __LINE__, "unsigned order", REQUEST_place_limit_order, 48, 0, 0, COMMAND_UNSIGNED, 1,
          false },
        { __LINE__, "body too short", REQUEST_place_limit_order, 64, 32, 0, COMMAND_SIGNED, 1,
          false },
        { __LINE__, "no body at all", REQUEST_place_limit_order, 16, 32, 0, COMMAND_SIGNED, 1,
          false },
        { __LINE__, "no key", REQUEST_place_limit_order, 72, 0, 0, COMMAND_SIGNED, 1, false },
        { __LINE__, "extra of no use", REQUEST_place_limit_order, 72, 32, 32, COMMAND_SIGNED, 1,
          false },
        { __LINE__, "reduction", REQUEST_order_reduction, 80, 32, 0, COMMAND_SIGNED, 1, true },
        { __LINE__, "conditional", REQUEST_place_conditional_order, 104, 32, 0, COMMAND_SIGNED, 1,
          true },
        { __LINE__, "with its secret", REQUEST_create_api_key, 72, 33, 32, COMMAND_SIGNED, 1,
          true },
        { __LINE__, "without it", REQUEST_create_api_key, 72, 33, 0, COMMAND_SIGNED, 1, false },
        { __LINE__, "a new account", REQUEST_create_account_secp256k1, 104, 33, 0, COMMAND_SIGNED,
          1, true },
        { __LINE__, "under a session key", REQUEST_create_account_secp256k1, 104, 32, 0,
          COMMAND_SIGNED, 1, false },
    };

    host_open(&host, NULL);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct command command = {
            .t_ns = engine_time(host.engine) + (uint64_t)rows[i].later_ns,
            .code = rows[i].code,
            .kind = rows[i].kind,
            .payload_bytes = rows[i].payload_bytes,
            .key_bytes = rows[i].key_bytes,
            .extra_bytes = rows[i].extra_bytes,
        };
        CHECK_ROW(&rows[i], engine_admits(host.engine, &command) == rows[i].admitted);
    }
    host_close(&host);
    host_open_bare(&host, NULL); /* 2014 and 2013 come first */
    struct command tick = { .t_ns = 1, .code = REQUEST_tick, .payload_bytes = 8 };
    CHECK(!engine_admits(host.engine, &tick));
    tick.code = REQUEST_boot;
    tick.payload_bytes = 24;
    CHECK(engine_admits(host.engine, &tick));
    host_close(&host);
}

int main(void)
{
    test_time();
    test_window();
    test_peek_changes_nothing();
    test_unknown_key_leaves_the_id();
    test_same_id_of_two_accounts();
    test_set_is_full();
    test_share_of_ids();
    test_row_order();
    test_answer_effect();
    test_lanes();
    test_configuration();
    test_every_built_code();
    test_window_grows();
    test_two_engines();
    test_admits();
    return 0;
}
