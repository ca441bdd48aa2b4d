/* passkey: wire.md W4 with the vectors, one for each check, and with assertions signed here: the
 * order of the checks, and what a browser may write that is no fault. */
#define OPENSSL_API_COMPAT 0x10100000L
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/obj_mac.h>
#include <openssl/sha.h>
#include <stdio.h>

#include "base/base64.h"
#include "base/hex.h"
#include "check.h"
#include "crypto/passkey.h"
#include "support/tree.h"

enum { VECTORS = 18, GOOD = 6, PAYLOAD_BYTES = 80, TEXT_MAX = 2048 };

static struct relying_party party;
static struct p256_cache cache;

/* ---- the vectors ----------------------------------------------------------------------------- */

static size_t from_base64(const struct tree *object, const char *name, uint8_t *bytes, size_t most)
{
    const char *text = tree_text(object, name);
    ptrdiff_t count = base64_decode(bytes, most, text, strlen(text), NULL);
    CHECK(count >= 0);
    return (size_t)count;
}

/* The problem of a vector's failing_check. public_key is net's own check. */
static enum problem problem_of(const struct tree *vector)
{
    static const struct {
        const char *name;
        enum problem problem;
    } checks[] = {
        { "type", PROBLEM_passkey_type },
        { "challenge", PROBLEM_passkey_challenge },
        { "origin", PROBLEM_passkey_origin },
        { "crossOrigin", PROBLEM_passkey_cross_origin },
        { "rpIdHash", PROBLEM_passkey_rp_id },
        { "flags UP", PROBLEM_passkey_user_presence },
        { "flags UV", PROBLEM_passkey_user_verification },
        { "signature", PROBLEM_invalid_signature },
        { "public_key", PROBLEM_none },
    };
    if (tree_int(vector, "valid"))
        return PROBLEM_none;
    for (size_t i = 0; i < CC_COUNT(checks); i++)
        if (strcmp(checks[i].name, tree_text(vector, "failing_check")) == 0)
            return checks[i].problem;
    CHECK(!"an unknown check");
    return PROBLEM_none;
}

static void test_vectors(void)
{
    struct tree *file = tree_load("tests/vectors/perpd/passkey.json");
    unsigned count = 0, good = 0;
    bool met[PROBLEM_END] = { false };
    for (struct tree *v = tree_get(file, "vectors")->first; v != NULL; v = v->next, count++) {
        const struct tree *envelope = tree_get(v, "envelope");
        uint8_t key[33], payload[400], id[256], data[1024], client[2048], signature[64];
        char error[RELYING_PARTY_ERROR_BYTES];
        CHECK(
            relying_party_read(&party, tree_text(v, "rp_id"), tree_text(v, "origin"), true, error));
        CHECK(tree_hex(v, "stored_public_key", key, sizeof key) == sizeof key);
        size_t payload_bytes = from_base64(envelope, "payload", payload, sizeof payload);
        CHECK(from_base64(envelope, "signature", signature, 64) == 64);
        const struct assertion assertion = {
            id,
            data,
            client,
            (uint16_t)from_base64(envelope, "credential_id", id, sizeof id),
            (uint16_t)from_base64(envelope, "authenticator_data", data, sizeof data),
            (uint16_t)from_base64(envelope, "client_data_json", client, sizeof client),
        };
        enum problem want = problem_of(v);
        CHECK(passkey_check(&party, &cache, key, payload, payload_bytes, &assertion, signature) ==
              want);
        met[want] = true;
        good += tree_int(v, "valid") != 0;
    }
    CHECK(count == VECTORS && good == GOOD);
    for (enum problem p = PROBLEM_passkey_type; p <= PROBLEM_passkey_user_verification; p++)
        CHECK(met[p] && passkey_problem_text(p)[0] != '\0');
    CHECK(met[PROBLEM_invalid_signature]);
    tree_free(file);
}

/* ---- assertions signed here ------------------------------------------------------------------ */

static EC_KEY *authenticator;
static uint8_t public_key[33];
static uint8_t payload[PAYLOAD_BYTES];
static char challenge[44];

/* An assertion in the making. The client data is `{"type":..,` and so on from these parts. */
struct draft {
    char client[TEXT_MAX + 1];
    uint8_t data[ASSERTION_AUTHENTICATOR_MAX];
    uint16_t data_bytes;
    uint8_t signature[64];
};

static void begin(void)
{
    const EC_GROUP *group;
    uint8_t digest[32];
    char text[45];
    authenticator = EC_KEY_new_by_curve_name(NID_X9_62_prime256v1);
    CHECK(authenticator != NULL && EC_KEY_generate_key(authenticator) == 1);
    group = EC_KEY_get0_group(authenticator);
    CHECK(EC_POINT_point2oct(group, EC_KEY_get0_public_key(authenticator),
                             POINT_CONVERSION_COMPRESSED, public_key, 33, NULL) == 33);
    for (unsigned i = 0; i < PAYLOAD_BYTES; i++)
        payload[i] = (uint8_t)(i * 31);
    SHA256(payload, sizeof payload, digest);
    base64_encode(text, digest, 32);
    for (unsigned i = 0; i < 43; i++)
        challenge[i] = text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i];
}

static void sign(struct draft *draft)
{
    uint8_t message[ASSERTION_AUTHENTICATOR_MAX + 32], digest[32];
    memcpy(message, draft->data, draft->data_bytes);
    SHA256((const uint8_t *)draft->client, strlen(draft->client), message + draft->data_bytes);
    SHA256(message, draft->data_bytes + 32u, digest);
    ECDSA_SIG *made = ECDSA_do_sign(digest, 32, authenticator);
    CHECK(made != NULL);
    CHECK(BN_bn2binpad(ECDSA_SIG_get0_r(made), draft->signature, 32) == 32);
    CHECK(BN_bn2binpad(ECDSA_SIG_get0_s(made), draft->signature + 32, 32) == 32);
    ECDSA_SIG_free(made);
}

/* A good assertion with this client data, in which %s is the challenge; signed. */
static void make(struct draft *draft, const char *client)
{
    const char *at = strstr(client, "%s");
    *draft = (struct draft){ .data_bytes = 37 };
    if (at == NULL)
        snprintf(draft->client, sizeof draft->client, "%s", client);
    else
        snprintf(draft->client, sizeof draft->client, "%.*s%s%s", (int)(at - client), client,
                 challenge, at + 2);
    SHA256((const uint8_t *)"localhost", 9, draft->data);
    draft->data[32] = 5; /* UP and UV */
    sign(draft);
}

static enum problem check_for(const struct relying_party *for_party, const struct draft *draft)
{
    const struct assertion assertion = {
        (const uint8_t *)"id",
        draft->data,
        (const uint8_t *)draft->client,
        2,
        draft->data_bytes,
        (uint16_t)strlen(draft->client),
    };
    return passkey_check(for_party, NULL, public_key, payload, sizeof payload, &assertion,
                         draft->signature);
}

static enum problem check(const struct draft *draft)
{
    return check_for(&party, draft);
}

static enum problem check_client(const char *client)
{
    struct draft draft;
    make(&draft, client);
    return check(&draft);
}

#define TYPE_MEMBER      "\"type\":\"webauthn.get\""
#define CHALLENGE_MEMBER "\"challenge\":\"%s\""
#define ORIGIN_MEMBER    "\"origin\":\"http://localhost:8080\""
#define CROSS_MEMBER     "\"crossOrigin\":false"
#define GOOD_CLIENT      "{" TYPE_MEMBER "," CHALLENGE_MEMBER "," ORIGIN_MEMBER "," CROSS_MEMBER "}"

/* Browsers add members, in any order, with any escapes. */
static void test_good(void)
{
    struct draft draft;
    char client[128];
    CHECK(check_client(GOOD_CLIENT) == PROBLEM_none);
    CHECK(check_client("{" ORIGIN_MEMBER " , " CHALLENGE_MEMBER ",\n" TYPE_MEMBER "}") ==
          PROBLEM_none);
    CHECK(check_client("{\"x\":{\"type\":1,\"a\":[[null]]}," TYPE_MEMBER "," CHALLENGE_MEMBER
                       "," ORIGIN_MEMBER ",\"\\u0079\":\"\\ud83d\\ude00\"}") == PROBLEM_none);
    CHECK(check_client("{\"t\\u0079pe\":\"webauthn\\u002eget\"," CHALLENGE_MEMBER
                       ",\"origin\":\"http:\\/\\/localhost:8080\"}") == PROBLEM_none);
    snprintf(client, sizeof client,
             "{" TYPE_MEMBER ",\"challenge\":\"\\u%04x%s\"," ORIGIN_MEMBER "}",
             (unsigned)challenge[0], challenge + 1);
    CHECK(check_client(client) == PROBLEM_none);
    make(&draft, GOOD_CLIENT);
    draft.data_bytes = ASSERTION_AUTHENTICATOR_MAX; /* extensions */
    draft.data[32] = 0xff;
    sign(&draft);
    CHECK(check(&draft) == PROBLEM_none);
}

static void test_client_data(void)
{
    static const char *const malformed[] = {
        "x",
        "[]",
        "\"{}\"",
        "{",
        "{}x",
        GOOD_CLIENT "{}",
        "\xef\xbb\xbf" GOOD_CLIENT,
        "{" TYPE_MEMBER "," TYPE_MEMBER "," CHALLENGE_MEMBER "," ORIGIN_MEMBER "}",
        "{\"type\":\"webauthn.create\"," CHALLENGE_MEMBER "," ORIGIN_MEMBER
        ",\"\\u0074ype\":\"webauthn.get\"}",
        "{" TYPE_MEMBER "," CHALLENGE_MEMBER "," ORIGIN_MEMBER ",\"x\":{\"a\":1,\"a\":2}}",
        "{" TYPE_MEMBER "," CHALLENGE_MEMBER "," ORIGIN_MEMBER ",\"x\":[[[[[[[[0]]]]]]]]}",
        "{" TYPE_MEMBER "," CHALLENGE_MEMBER "," ORIGIN_MEMBER ",\"x\":\"\xff\"}",
    };
    for (size_t i = 0; i < CC_COUNT(malformed); i++)
        CHECK(check_client(malformed[i]) == PROBLEM_malformed_payload);
    CHECK(check_client("{}") == PROBLEM_passkey_type);
    CHECK(check_client("{\"type\":1," CHALLENGE_MEMBER "}") == PROBLEM_passkey_type);
    CHECK(check_client("{\"type\":\"webauthn.get \"," CHALLENGE_MEMBER "}") ==
          PROBLEM_passkey_type);
    CHECK(check_client("{" TYPE_MEMBER "}") == PROBLEM_passkey_challenge);
    CHECK(check_client("{" TYPE_MEMBER ",\"challenge\":null}") == PROBLEM_passkey_challenge);
    CHECK(check_client("{" TYPE_MEMBER ",\"challenge\":\"\"}") == PROBLEM_passkey_challenge);
    CHECK(check_client("{" TYPE_MEMBER ",\"challenge\":\"%s=\"}") == PROBLEM_passkey_challenge);
    CHECK(check_client("{" TYPE_MEMBER "," CHALLENGE_MEMBER "}") == PROBLEM_passkey_origin);
    CHECK(check_client("{" TYPE_MEMBER "," CHALLENGE_MEMBER
                       ",\"origin\":[\"http://localhost:8080\"]}") == PROBLEM_passkey_origin);
    CHECK(check_client("{" TYPE_MEMBER "," CHALLENGE_MEMBER
                       ",\"origin\":\"http://localhost:80800\"}") == PROBLEM_passkey_origin);
    static const char *const crossed[] = { "true", "null", "0", "\"false\"", "{}", "[]" };
    for (size_t i = 0; i < CC_COUNT(crossed); i++) {
        char client[512];
        snprintf(client, sizeof client, "{%s,\"challenge\":\"%s\",%s,\"crossOrigin\":%s}",
                 TYPE_MEMBER, challenge, ORIGIN_MEMBER, crossed[i]);
        CHECK(check_client(client) == PROBLEM_passkey_cross_origin);
    }
}

/* W4's order: with all faults at once the first is named; each repaired, the next. */
static void test_order(void)
{
    static const char *const client[] = {
        "{" TYPE_MEMBER "," TYPE_MEMBER "}",
        "{\"type\":\"webauthn.create\",\"challenge\":\"x\",\"origin\":\"x\",\"crossOrigin\":true}",
        "{" TYPE_MEMBER ",\"challenge\":\"x\",\"origin\":\"x\",\"crossOrigin\":true}",
        "{" TYPE_MEMBER "," CHALLENGE_MEMBER ",\"origin\":\"x\",\"crossOrigin\":true}",
        "{" TYPE_MEMBER "," CHALLENGE_MEMBER "," ORIGIN_MEMBER ",\"crossOrigin\":true}",
        GOOD_CLIENT,
    };
    static const enum problem problems[] = {
        PROBLEM_malformed_payload, PROBLEM_passkey_type,         PROBLEM_passkey_challenge,
        PROBLEM_passkey_origin,    PROBLEM_passkey_cross_origin, PROBLEM_passkey_rp_id,
    };
    struct draft draft;
    for (size_t i = 0; i < CC_COUNT(client); i++) {
        make(&draft, client[i]);
        memset(draft.data, 0, 33);
        memset(draft.signature, 1, 64);
        CHECK(check(&draft) == problems[i]);
    }
    SHA256((const uint8_t *)"localhost", 9, draft.data);
    CHECK(check(&draft) == PROBLEM_passkey_user_presence);
    draft.data[32] = (uint8_t)~5u;
    CHECK(check(&draft) == PROBLEM_passkey_user_presence);
    draft.data[32] = 1;
    CHECK(check(&draft) == PROBLEM_passkey_user_verification);
    draft.data[32] = 5;
    CHECK(check(&draft) == PROBLEM_invalid_signature);
    sign(&draft);
    CHECK(check(&draft) == PROBLEM_none);
}

/* The signature covers payload, authenticator data and client data. */
static void test_covered(void)
{
    struct draft draft;
    make(&draft, GOOD_CLIENT);
    payload[0] ^= 1;
    CHECK(check(&draft) == PROBLEM_passkey_challenge);
    payload[0] ^= 1;
    draft.data[36] ^= 1;
    CHECK(check(&draft) == PROBLEM_invalid_signature);
    draft.data[36] ^= 1;
    strcat(draft.client, " ");
    CHECK(check(&draft) == PROBLEM_invalid_signature);
    public_key[0] ^= 1;
    make(&draft, GOOD_CLIENT);
    CHECK(check(&draft) == PROBLEM_invalid_signature);
    public_key[0] ^= 1;
    CHECK(check(&draft) == PROBLEM_none);
}

/* A relying party that is none accepts nothing; a record's proof does not depend on it. */
static void test_party(void)
{
    static const struct relying_party none;
    struct draft draft;
    make(&draft, GOOD_CLIENT);
    CHECK(check_for(&none, &draft) == PROBLEM_passkey_origin);
    CHECK(check_for(NULL, &draft) == PROBLEM_none);
    draft.data[32] = 1;
    sign(&draft);
    CHECK(check_for(NULL, &draft) == PROBLEM_passkey_user_verification);
    make(&draft, "{" TYPE_MEMBER ",\"challenge\":\"x\"," ORIGIN_MEMBER "}");
    CHECK(check_for(NULL, &draft) == PROBLEM_passkey_challenge);
}

int main(void)
{
    char error[RELYING_PARTY_ERROR_BYTES];
    CHECK(p256_init() == 0);
    test_vectors();
    CHECK(relying_party_read(&party, "", "", true, error));
    begin();
    test_good();
    test_client_data();
    test_order();
    test_covered();
    test_party();
    EC_KEY_free(authenticator);
    return 0;
}
