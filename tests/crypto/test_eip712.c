/* eip712: wire.md W4 with the vectors: types, values, hashes, digests, and the signatures on which
 * two independent libraries agree. */
#include "base/base64.h"
#include "base/hex.h"
#include "base/request.h"
#include "check.h"
#include "crypto/eip712.h"
#include "crypto/secp256k1.h"
#include "crypto/signer.h"
#include "support/tree.h"

enum { VECTORS = 30, VALID = 21, BYTES_MAX = 8192 };

static size_t from_base64(const struct tree *object, const char *name, uint8_t *bytes)
{
    const char *text = tree_text(object, name);
    ptrdiff_t count = base64_decode(bytes, BYTES_MAX, text, strlen(text), NULL);
    CHECK(count >= 0);
    return (size_t)count;
}

static bool hex_equal(const struct tree *object, const char *name, const uint8_t hash[32])
{
    uint8_t want[32];
    return tree_hex(object, name, want, sizeof want) == 32 && memcmp(want, hash, 32) == 0;
}

/* Names, types and values of all members, in order, as the wallet gets them. */
static void check_typed_data(const struct tree *v, uint16_t code, const uint8_t *payload,
                             size_t payload_bytes)
{
    const struct tree *typed = tree_get(v, "typed_data");
    char primary[EIP712_NAME_MAX];
    eip712_primary_type(code, primary);
    CHECK(strcmp(primary, tree_text(typed, "primaryType")) == 0);

    struct eip712_member members[EIP712_MEMBERS_MAX];
    unsigned count = eip712_members(code, members);
    const struct tree *type = tree_get(tree_get(typed, "types"), primary)->first;
    const struct tree *value = tree_get(typed, "message")->first;
    for (unsigned i = 0; i < count; i++, type = type->next, value = value->next) {
        static char text[EIP712_VALUE_MAX];
        CHECK(type != NULL && value != NULL);
        CHECK(strcmp(tree_text(type, "name"), members[i].name) == 0);
        CHECK(strcmp(tree_text(type, "type"), members[i].type) == 0);
        CHECK(strcmp(value->name, members[i].name) == 0);
        ptrdiff_t length = eip712_value(payload, payload_bytes, i, text);
        CHECK(length >= 0 && (size_t)length == strlen(text));
        CHECK(strcmp(text, value->text) == 0);
    }
    CHECK(type == NULL && value == NULL);
    CHECK(eip712_value(payload, payload_bytes, count, (char[EIP712_VALUE_MAX]){ 0 }) < 0);
}

static void check_valid(const struct tree *v, const struct eip712 *eip712, uint16_t code,
                        const uint8_t *payload, size_t payload_bytes,
                        const struct eip712_hashes *hashes, const uint8_t key[33],
                        const uint8_t signature[64])
{
    check_typed_data(v, code, payload, payload_bytes);
    char text[EIP712_TYPE_MAX];
    CHECK(eip712_encode_type(code, text) == strlen(tree_text(v, "encode_type")));
    CHECK(strcmp(text, tree_text(v, "encode_type")) == 0);
    CHECK(hex_equal(v, "type_hash", eip712->type_hash[code]));
    CHECK(hex_equal(v, "domain_separator", eip712->domain_separator));
    CHECK(hex_equal(v, "struct_hash", hashes->struct_hash));
    CHECK(hex_equal(v, "digest", hashes->digest));

    uint8_t bytes[BYTES_MAX];
    CHECK(tree_hex(v, "payload_hex", bytes, sizeof bytes) == payload_bytes);
    CHECK(memcmp(bytes, payload, payload_bytes) == 0);
    uint8_t secret[32], made_key[33], made[64];
    CHECK(tree_hex(v, "private_key", secret, sizeof secret) == 32);
    CHECK(signer_secp256k1_key(secret, made_key) && memcmp(made_key, key, 33) == 0);
    CHECK(signer_secp256k1_sign(secret, hashes->digest, made));
    CHECK(memcmp(made, signature, 64) == 0);
}

static void test_vectors(void)
{
    struct tree *file = tree_load("tests/vectors/perpd/eip712.json");
    static uint8_t payload[BYTES_MAX], key[BYTES_MAX], signature[BYTES_MAX];
    static struct eip712 eip712;
    unsigned count = 0;
    unsigned valid = 0;
    for (struct tree *v = tree_get(file, "vectors")->first; v != NULL; v = v->next, count++) {
        uint8_t exchange_id[32];
        CHECK(tree_hex(v, "exchange_id", exchange_id, sizeof exchange_id) == 32);
        eip712_init(&eip712, exchange_id);
        const struct tree *envelope = tree_get(v, "envelope");
        size_t payload_bytes = from_base64(envelope, "payload", payload);
        CHECK(from_base64(envelope, "public_key", key) == 33);
        CHECK(from_base64(envelope, "signature", signature) == 64);
        uint16_t code = (uint16_t)tree_int(v, "request_type");
        CHECK(eip712_is_signable(code));
        struct eip712_hashes hashes;
        CHECK(eip712_hash(&eip712, payload, payload_bytes, &hashes) == 0);
        bool good = secp256k1_verify(key, hashes.digest, signature);
        CHECK(good == (tree_int(v, "valid") != 0));
        valid += good;
        if (good)
            check_valid(v, &eip712, code, payload, payload_bytes, &hashes, key, signature);
    }
    CHECK(count == VECTORS && valid == VALID);
    tree_free(file);
}

/* W4's worked example: exchange id 00 01 .. 1f, account 7, session_pub of the W4 key. */
static void test_specification_example(void)
{
    uint8_t id[32];
    for (unsigned i = 0; i < sizeof id; i++)
        id[i] = (uint8_t)i;
    static const char text[] = "AQENAAAAAAABmMDeAABwAIAAAAAAAAChBwAAAAAAAAADoQe/884Qvh1w3RjnS8CZ"
                               "Z+TWMJulDV8d3IZkElUxuAAAAAAAAAAA/////wAAAAA=";
    uint8_t payload[128];
    ptrdiff_t count = base64_decode(payload, sizeof payload, text, sizeof text - 1, NULL);
    CHECK(count == 24 + 56);
    struct eip712 eip712;
    struct eip712_hashes hashes;
    eip712_init(&eip712, id);
    CHECK(eip712_hash(&eip712, payload, (size_t)count, &hashes) == 0);
    char hex[65];
    hex_encode(hex, eip712.domain_separator, 32);
    CHECK(strcmp(hex, "fe544d8977bbb126430bcb36a85ac390c04c0fcd693815d3f2b7f42064319bbc") == 0);
    hex_encode(hex, hashes.struct_hash, 32);
    CHECK(strcmp(hex, "45459a89edbad3282de2de53a75ee66f51b8ffc279db19d2bf364610cd1fdabd") == 0);
    hex_encode(hex, hashes.digest, 32);
    CHECK(strcmp(hex, "4ffadfeb69dd9f0fde48d1f59409f6a12a21ae2622e1050affdd95b762fbde83") == 0);
    static char value[EIP712_VALUE_MAX];
    static const char *const values[] = { "create_session",
                                          "7",
                                          NULL,
                                          "default",
                                          "whole account",
                                          "FULL_ACCESS",
                                          "0198c0de-0000-7000-8000-0000000000a1",
                                          "2025-08-19T05:47:11.232Z" };
    for (unsigned i = 0; i < CC_COUNT(values); i++) {
        CHECK(eip712_value(payload, (size_t)count, i, value) > 0);
        CHECK(values[i] == NULL || strcmp(value, values[i]) == 0);
    }
}

/* W4: the codes that a Secp256k1 master key signs; every one has a type, no other has. */
static void test_signable(void)
{
    static const uint8_t codes[] = { 9,  10, 11, 13, 14, 15, 16, 17, 19, 20, 22,
                                     23, 24, 28, 29, 30, 31, 32, 33, 34, 35, 36 };
    unsigned found = 0;
    for (unsigned code = 0; code < 3000; code++) {
        bool listed = code < 256 && memchr(codes, (int)code, sizeof codes) != NULL;
        char text[EIP712_TYPE_MAX];
        struct eip712_member members[EIP712_MEMBERS_MAX];
        CHECK(eip712_is_signable((uint16_t)code) == listed);
        CHECK((eip712_encode_type((uint16_t)code, text) > 0) == listed);
        CHECK((eip712_members((uint16_t)code, members) > 0) == listed);
        found += listed;
    }
    CHECK(found == sizeof codes);
}

static int hash_of(uint8_t *payload, size_t count)
{
    static struct eip712 eip712;
    struct eip712_hashes hashes;
    return eip712_hash(&eip712, payload, count, &hashes);
}

/* A length that is not the code's own has no digest. */
static void test_lengths(void)
{
    uint8_t payload[512] = { REQUEST_VERSION, SIGNATURE_SECP256K1, REQUEST_create_session };
    for (size_t count = 0; count <= sizeof payload; count++)
        CHECK((hash_of(payload, count) == 0) == (count == 24 + 56));
    payload[2] = REQUEST_place_limit_order;
    CHECK(hash_of(payload, 24 + 48) < 0);

    /* Code 19: credential_id_len at 42, the id from 44 on, padded to 8 (W3). */
    payload[2] = REQUEST_add_admin_passkey_master_key;
    for (unsigned length = 0; length <= 258; length++) {
        cc_store16(payload + 24 + 42, (uint16_t)length);
        size_t right = 24 + ((44 + length + 7) & ~7u);
        CHECK((hash_of(payload, right) == 0) == (length >= 1 && length <= 256));
        CHECK(hash_of(payload, right - 8) < 0 && hash_of(payload, right + 8) < 0);
    }
}

int main(void)
{
    CHECK(secp256k1_init() == 0 && signer_init() == 0);
    test_vectors();
    test_specification_example();
    test_signable();
    test_lengths();
    return 0;
}
