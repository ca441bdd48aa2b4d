/* Accounts whose master key is a passkey: code 12, what it signs, its count of signatures, its row
 * in the image (R10, R11; wire.md W3, W4, W5). */
#include "engine/state/state.h"
#include "engine/view/read.h"
#include "image_copy.h"
#include "passkeys.h"
#include "rig.h"

#define BYTES(field) +sizeof(((struct passkey *)0)->field)
enum { PASSKEY_ROW_BYTES = 0 PASSKEY_FIELDS(BYTES) };
#undef BYTES

static struct host host;

/* Code 13 by the passkey, for a session of key `n`. */
static enum status make_session(struct passkeys_signer *signer, uint32_t n)
{
    uint8_t body[56] = { 0 };

    cc_store64(body, 1);
    host_session_key(n, body + 8);
    cc_store32(body + 48, UINT32_MAX);
    struct host_request request =
        passkeys_request(signer, REQUEST_create_session, body, sizeof body, NULL);
    return host_signed(&host, &request);
}

/* R11, code 12: as code 11, under a passkey. The keyring learns its credential id. */
static void test_account(void)
{
    struct passkeys_signer signer = { .n = 1, .id_bytes = 256, .sign_count = 7 };
    struct read_credential view;
    struct row_account account;
    struct effect_credential added;
    uint32_t cursor = 0;

    host_open(&host, NULL);
    CHECK(passkeys_account(&host, &signer) == STATUS_account_created_with_session);
    CHECK(host.result.account_id == 1);
    CHECK(host.result.members == (ANSWER_HAS_ACCOUNT | ANSWER_HAS_ID | ANSWER_HAS_EXPIRY));
    memcpy(&added, host_effect(&host, EFFECT_credential, 0)->bytes, sizeof added);
    CHECK(added.kind == EFFECT_CREDENTIAL_MASTER_KEY && added.action == CREDENTIAL_ADDED);
    CHECK(memcmp(added.key, signer.key + 1, 32) == 0 && added.account_id == 1);
    CHECK(read_credential_at(host.engine, &cursor, &view));
    CHECK(view.kind == EFFECT_CREDENTIAL_MASTER_KEY && memcmp(view.key, signer.key, 33) == 0);
    CHECK(view.passkey_id_bytes == 256 && view.passkey_id[0] == 0x41 &&
          view.passkey_id[255] == 0x41);
    CHECK(read_credential_at(host.engine, &cursor, &view) && view.passkey_id == NULL);
    CHECK(read_account(host.engine, 1, &account) && account.subaccount_count == 1);
    CHECK(passkeys_account(&host, &signer) == STATUS_creation_rejected); /* its key is taken */
    signer.n = 2;
    CHECK(passkeys_account(&host, &signer) == STATUS_account_created_with_session);
    CHECK(host.result.account_id == 2);
    host_close(&host);
}

/* W5: a lost answer is repeated with account_id and session_id. */
static void test_duplicate(void)
{
    struct passkeys_signer signer = { .n = 1 };
    uint8_t body[80] = { 0 }, id[16];

    host_open(&host, NULL);
    host_session_key(1, body);
    struct host_request request =
        passkeys_request(&signer, REQUEST_create_account_passkey, body, sizeof body, NULL);
    CHECK(host_signed(&host, &request) == STATUS_account_created_with_session);
    struct engine_result first = host.result;
    memcpy(id, host.id, sizeof id);
    request.id = id;
    CHECK(host_signed(&host, &request) == STATUS_duplicate_request_id);
    CHECK(host.result.members == (first.members | ANSWER_HAS_ORIGINAL));
    CHECK(host.result.account_id == 1 && memcmp(host.result.id, first.id, 16) == 0);
    host_close(&host);
}

/* W2: a passkey signs what a master key signs; with a secret its hash follows the assertion. */
static void test_signs(void)
{
    struct passkeys_signer signer = { .n = 1 }, stranger = { .n = 9 };
    uint8_t key_body[48] = { 1 }, hash[32] = { 0xAB }, one[8] = { 1 };
    struct read_credential view;
    uint32_t cursor = 0;

    host_open(&host, NULL);
    CHECK(passkeys_account(&host, &signer) == STATUS_account_created_with_session);
    CHECK(make_session(&signer, 5) == STATUS_session_created);
    CHECK(make_session(&stranger, 6) == STATUS_session_rejected);
    cc_store32(key_body + 8, UINT32_MAX);
    struct host_request request =
        passkeys_request(&signer, REQUEST_create_api_key, key_body, sizeof key_body, hash);
    CHECK(host_signed(&host, &request) == STATUS_request_completed);
    for (uint32_t i = 0; i < 4; i++)
        CHECK(read_credential_at(host.engine, &cursor, &view));
    CHECK(view.kind == EFFECT_CREDENTIAL_API_KEY && memcmp(view.key, hash, 32) == 0);
    request = passkeys_request(&signer, REQUEST_create_subaccount, one, sizeof one, NULL);
    CHECK(host_signed(&host, &request) == STATUS_request_completed);
    request = passkeys_request(&signer, REQUEST_revoke_all_sessions, one, sizeof one, NULL);
    CHECK(host_signed(&host, &request) == STATUS_session_revoked);
    host_close(&host);
}

/* The bytes of a key may be a point of both curves: a signature of one is none of the other. */
static void test_curves(void)
{
    struct passkeys_signer signer = { .n = 1 }, other = { .n = 1 };
    uint8_t body[80] = { 0 }, one[8] = { 1 }, two[8] = { 2 };

    host_open(&host, NULL);
    CHECK(passkeys_account(&host, &signer) == STATUS_account_created_with_session);
    struct host_request wallet = { .code = REQUEST_revoke_all_sessions,
                                   .body = one,
                                   .body_bytes = sizeof one,
                                   .key = signer.key,
                                   .key_bytes = 33 };
    CHECK(host_signed(&host, &wallet) == STATUS_session_rejected);
    wallet = (struct host_request){ .code = REQUEST_create_account_secp256k1,
                                    .flags = COMMAND_SESSION_KEY_VALID,
                                    .body = body,
                                    .body_bytes = sizeof body,
                                    .key = signer.key,
                                    .key_bytes = 33 };
    host_session_key(3, body);
    CHECK(host_signed(&host, &wallet) == STATUS_creation_rejected);
    CHECK(host_account(&host, 2) == 2);
    struct host_request request =
        passkeys_request(&other, REQUEST_revoke_all_sessions, two, sizeof two, NULL);
    host_master_key(2, other.key);
    CHECK(host_signed(&host, &request) == STATUS_session_rejected);
    host_close(&host);
}

/* W4: the count is stored, a regress of two that count is told and no refusal. */
static void test_sign_count(void)
{
    static const struct row {
        int line;
        const char *name;
        uint32_t count;
        bool fell;
    } rows[] = {
        { __LINE__, "rises", 8, false },          { __LINE__, "stands", 8, true },
        { __LINE__, "falls", 3, true },           { __LINE__, "rises from there", 4, false },
        { __LINE__, "does not count", 0, false }, { __LINE__, "still not", 0, false },
        { __LINE__, "begins", 1, false },
    };
    struct passkeys_signer signer = { .n = 1, .sign_count = 7 };

    host_open(&host, NULL);
    CHECK(passkeys_account(&host, &signer) == STATUS_account_created_with_session);
    CHECK(!host.result.sign_count_fell);
    for (uint32_t i = 0; i < CC_COUNT(rows); i++) {
        signer.sign_count = rows[i].count;
        CHECK_ROW(&rows[i], make_session(&signer, 100 + i) == STATUS_session_created);
        CHECK_ROW(&rows[i], host.result.sign_count_fell == rows[i].fell);
        CHECK_ROW(&rows[i], host.engine->passkeys.rows[1].sign_count == rows[i].count);
    }
    host_close(&host);
}

/* Records of another binary, or damaged ones, are not applied. */
static void test_admits(void)
{
    const struct row {
        int line;
        const char *name;
        uint16_t code, payload_bytes, key_bytes, extra_bytes;
        uint8_t kind;
        bool admitted;
    } rows[] = {
        { __LINE__, "a new account", REQUEST_create_account_passkey, 104, 33, 55, COMMAND_PASSKEY,
          true },
        { __LINE__, "not signed by a passkey", REQUEST_create_account_passkey, 104, 33, 0,
          COMMAND_SIGNED, false },
        { __LINE__, "a wallet's account", REQUEST_create_account_secp256k1, 104, 33, 55,
          COMMAND_PASSKEY, false },
        { __LINE__, "a session", REQUEST_create_session, 80, 33, 55, COMMAND_PASSKEY, true },
        { __LINE__, "a key of 32 bytes", REQUEST_create_session, 80, 32, 55, COMMAND_PASSKEY,
          false },
        { __LINE__, "no assertion", REQUEST_create_session, 80, 33, 0, COMMAND_PASSKEY, false },
        { __LINE__, "a byte short", REQUEST_create_session, 80, 33, 54, COMMAND_PASSKEY, false },
        { __LINE__, "a byte long", REQUEST_create_session, 80, 33, 56, COMMAND_PASSKEY, false },
        { __LINE__, "a secret's hash of no use", REQUEST_create_session, 80, 33, 87,
          COMMAND_PASSKEY, false },
        { __LINE__, "with its hash", REQUEST_create_api_key, 72, 33, 87, COMMAND_PASSKEY, true },
        { __LINE__, "without it", REQUEST_create_api_key, 72, 33, 55, COMMAND_PASSKEY, false },
        { __LINE__, "an order", REQUEST_place_limit_order, 72, 33, 55, COMMAND_PASSKEY, false },
        { __LINE__, "the operator", REQUEST_fund_top_up, 32, 33, 55, COMMAND_PASSKEY, false },
        { __LINE__, "the node", REQUEST_tick, 32, 33, 55, COMMAND_PASSKEY, false },
    };
    alignas(16) static uint8_t space[1024];
    const struct assertion sizes = { NULL, NULL, NULL, 8, 37, 2 };
    struct command *command = (void *)space;

    host_open(&host, NULL);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        *command = (struct command){ .t_ns = engine_time(host.engine) + 1,
                                     .code = rows[i].code,
                                     .kind = rows[i].kind,
                                     .payload_bytes = rows[i].payload_bytes,
                                     .key_bytes = rows[i].key_bytes,
                                     .extra_bytes = rows[i].extra_bytes };
        assertion_write_header(command->bytes + rows[i].payload_bytes + rows[i].key_bytes + 64,
                               &sizes);
        CHECK_ROW(&rows[i], engine_admits(host.engine, command) == rows[i].admitted);
    }
    host_close(&host);
}

/* The passkeys survive in the image, and go on. */
static void test_image(void)
{
    static struct host later;
    static struct image_copy copy, again;
    struct passkeys_signer first = { .n = 1, .id_bytes = 1, .sign_count = 9 };
    struct passkeys_signer second = { .n = 2, .id_bytes = 256 };
    struct image_problem problem;

    host_open(&host, NULL);
    CHECK(passkeys_account(&host, &first) == STATUS_account_created_with_session);
    CHECK(host_account(&host, 30) == 2);
    CHECK(passkeys_account(&host, &second) == STATUS_account_created_with_session);
    image_copy_take(&copy, host.engine);
    CHECK(image_copy_part(&copy, IMAGE_passkeys)->byte_count == 2 * PASSKEY_ROW_BYTES);
    CHECK(image_copy_open(&copy, &later, NULL, &problem));
    image_copy_take(&again, later.engine);
    CHECK(image_copy_equal(&copy, &again));
    CHECK(later.engine->passkeys.slots.count == 2 &&
          later.engine->passkeys.rows[1].sign_count == 9);
    host_close(&later);
    image_copy_free(&copy);
    image_copy_free(&again);
    host_close(&host);
}

int main(void)
{
    test_account();
    test_duplicate();
    test_signs();
    test_curves();
    test_sign_count();
    test_admits();
    test_image();
    return 0;
}
