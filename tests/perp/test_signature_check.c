/* signature_check: a passkey's record (journal.md, Record, kind 2) with wire.md's vectors: what the
 * passkey signed is proven from the record alone. Other curves: test_replay.py. */
#include "base/assertion.h"
#include "base/base64.h"
#include "base/message.h"
#include "check.h"
#include "crypto/operator_message.h"
#include "crypto/signer.h"
#include "perp/data/signature_check.h"
#include "support/tree.h"

static struct eip712 eip712;

/* A record and its bytes. */
struct sample {
    struct record_view record;
    uint8_t payload[400], key[33], signature[64];
    uint8_t extra[ASSERTION_BYTES_MAX + SECRET_HASH_BYTES];
};

static uint16_t take(const struct tree *envelope, const char *name, uint8_t *bytes, size_t most)
{
    const char *text = tree_text(envelope, name);
    ptrdiff_t count = base64_decode(bytes, most, text, strlen(text), NULL);
    CHECK(count > 0);
    return (uint16_t)count;
}

/* The record of a vector whose envelope was accepted. */
static void make(struct sample *sample, const struct tree *vector)
{
    const struct tree *envelope = tree_get(vector, "envelope");
    struct assertion sizes = { 0 };
    uint8_t *at = sample->extra + ASSERTION_HEADER_BYTES;
    CHECK(tree_hex(vector, "stored_public_key", sample->key, 33) == 33);
    at += sizes.credential_id_bytes = take(envelope, "credential_id", at, 256);
    at += sizes.authenticator_data_bytes = take(envelope, "authenticator_data", at, 1024);
    at += sizes.client_data_bytes = take(envelope, "client_data_json", at, 2048);
    assertion_write_header(sample->extra, &sizes);
    CHECK(take(envelope, "signature", sample->signature, 64) == 64);
    uint16_t payload_bytes = take(envelope, "payload", sample->payload, sizeof sample->payload);
    sample->record = (struct record_view){
        .code = cc_load16(sample->payload + 2),
        .kind = RECORD_PASSKEY,
        .payload_bytes = payload_bytes,
        .key_bytes = 33,
        .extra_bytes = (uint16_t)(at - sample->extra),
        .payload = sample->payload,
        .key = sample->key,
        .signature = sample->signature,
        .extra = sample->extra,
    };
}

static const char *judge(const struct sample *sample)
{
    return signature_check_record(&eip712, OPERATOR_RULES_VERSION, &sample->record);
}

/* Origin and relying party are the options' matter, and public_key is not in a record. */
static bool is_proven(const struct tree *vector)
{
    if (tree_int(vector, "valid"))
        return true;
    const char *check = tree_text(vector, "failing_check");
    return strcmp(check, "origin") == 0 || strcmp(check, "rpIdHash") == 0 ||
           strcmp(check, "public_key") == 0;
}

static void test_vectors(const struct tree *vectors)
{
    struct sample sample;
    unsigned good = 0, bad = 0;
    for (const struct tree *v = vectors->first; v != NULL; v = v->next) {
        make(&sample, v);
        CHECK((judge(&sample) == NULL) == is_proven(v));
        good += is_proven(v);
        bad += !is_proven(v);
    }
    CHECK(good == 10 && bad == 8);
}

/* What a record must be beside its signature. */
static void test_form(const struct tree *good)
{
    struct sample sample;
    make(&sample, good);
    sample.record.kind = RECORD_SIGNED;
    CHECK(judge(&sample) != NULL);
    make(&sample, good);
    sample.payload[1] = SIGNATURE_SECP256K1;
    CHECK(judge(&sample) != NULL);
    make(&sample, good);
    sample.record.key_bytes = 32;
    CHECK(judge(&sample) != NULL);
    make(&sample, good);
    sample.record.extra_bytes--;
    CHECK(judge(&sample) != NULL);
    make(&sample, good);
    sample.record.extra_bytes = 0;
    CHECK(judge(&sample) != NULL);
    make(&sample, good);
    sample.record.extra_bytes += SECRET_HASH_BYTES; /* code 13 makes no secret */
    CHECK(judge(&sample) != NULL);
    make(&sample, good);
    sample.signature[40] ^= 1;
    CHECK(strstr(judge(&sample), "passkey signature is wrong") != NULL);
}

/* Codes from 1000 on are bound to the exchange since rules version 6; a journal begun under an
 * older one has signatures over the payload alone. */
static void test_operator(void)
{
    static const uint8_t seed[SIGNER_SEED_BYTES] = { 7 }, other_id[32] = { 1 };
    uint8_t payload[24 + 56] = { 1, SIGNATURE_ED25519, 1003 & 255, 1003 >> 8 }, buffer[4192];
    uint8_t old[64], bound[64], elsewhere[64];
    struct signer_ed25519 signer;
    struct record_view record = { .code = 1003,
                                  .kind = RECORD_SIGNED,
                                  .payload_bytes = sizeof payload,
                                  .key_bytes = 32,
                                  .payload = payload,
                                  .key = signer.key };
    struct operator_message message =
        operator_message_of(buffer, eip712.salt, payload, sizeof payload);
    CHECK(message.count == 16 + 32 + sizeof payload);
    CHECK(memcmp(message.bytes, "perpd operator 1", 16) == 0);
    CHECK(memcmp(message.bytes + 16, eip712.salt, 32) == 0);
    CHECK(memcmp(message.bytes + 48, payload, sizeof payload) == 0);
    signer_ed25519(&signer, seed);
    signer_ed25519_sign(&signer, message.bytes, message.count, bound);
    signer_ed25519_sign(&signer, payload, sizeof payload, old);
    message = operator_message_of(buffer, other_id, payload, sizeof payload);
    signer_ed25519_sign(&signer, message.bytes, message.count, elsewhere);
    const struct {
        int line;
        const char *name;
        const uint8_t *signature;
        uint32_t rules_version;
        bool good;
    } rows[] = {
        { __LINE__, "bound", bound, 6, true },
        { __LINE__, "bound, later", bound, 7, true },
        { __LINE__, "bound, too early", bound, 5, false },
        { __LINE__, "payload alone", old, 5, true },
        { __LINE__, "payload alone, first", old, 1, true },
        { __LINE__, "payload alone, too late", old, 6, false },
        { __LINE__, "another exchange", elsewhere, 6, false },
        { __LINE__, "another exchange, early", elsewhere, 5, false },
    };
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        record.signature = rows[i].signature;
        const char *wrong = signature_check_record(&eip712, rows[i].rules_version, &record);
        CHECK_ROW(&rows[i], (wrong == NULL) == rows[i].good);
    }
}

int main(void)
{
    static const uint8_t exchange_id[32] = { 9 };
    CHECK(signature_check_init(&eip712, exchange_id) == 0);
    struct tree *file = tree_load("tests/vectors/perpd/passkey.json");
    test_vectors(tree_get(file, "vectors"));
    test_form(tree_get(file, "vectors")->first);
    tree_free(file);
    test_operator();
    return 0;
}
