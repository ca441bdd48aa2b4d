/* ed25519: wire.md W4 (libsodium 1.0.18's verdicts: strict, cofactorless) against our own
 * envelopes, Wycheproof and CCTV; rules.md R11 code 13 (which keys a session may have). */
#include "base/base64.h"
#include "check.h"
#include "crypto/ed25519.h"
#include "crypto/signer.h"
#include "support/tree.h"

enum {
    OWN_VECTORS = 33,
    OWN_VALID = 23,
    WYCHEPROOF_VECTORS = 151,
    WYCHEPROOF_OTHER_LENGTH = 12, /* signatures that are not 64 bytes: refused before us */
    CCTV_VECTORS = 914,
    CCTV_VALID = 43,
    BYTES_MAX = 8192,
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { PLACES = 1 }; /* of a call that a vector is tried in, another for every vector */
#else
enum { PLACES = 3 };
#endif

static struct signer_ed25519 neighbour;
static struct ed25519_table neighbour_tables[2];
static uint8_t neighbour_good[64], neighbour_bad[64];

enum tables { TABLE_WIDE, TABLE_SMALL, TABLE_NONE };

static const uint32_t sizes[] = { ED25519_TABLE_POSITIONS, ED25519_TABLE_POSITIONS_SMALL };

struct entries {
    alignas(ED25519_TABLE_ALIGN) struct ed25519_multiple
        entries[ED25519_TABLE_POSITIONS * ED25519_TABLE_MULTIPLES];
};

static bool build(struct ed25519_table *table, struct entries *entries, uint32_t positions,
                  const uint8_t key[32])
{
    *table = (struct ed25519_table){ .multiples = entries->entries, .positions = positions };
    memcpy(table->key, key, sizeof table->key);
    return ed25519_table_build(entries->entries, positions, key) == 0;
}

static void prepare_neighbour(void)
{
    static struct entries entries[2];
    signer_ed25519(&neighbour, (const uint8_t[SIGNER_SEED_BYTES]){ 9 });
    signer_ed25519_sign(&neighbour, "neighbour", 9, neighbour_good);
    memcpy(neighbour_bad, neighbour_good, sizeof neighbour_bad);
    neighbour_bad[40] ^= 4;
    for (unsigned i = 0; i < 2; i++)
        CHECK(build(&neighbour_tables[i], &entries[i], sizes[i], neighbour.key));
}

/* The job as the lane-th of eight, the others good, then the others bad. */
static void check_among(const struct ed25519_job *job, unsigned lane, enum tables tables, bool good)
{
    struct ed25519_job jobs[8];
    for (unsigned i = 0; i < 8; i++)
        jobs[i] = (struct ed25519_job){
            neighbour.key,
            neighbour_good,
            (const uint8_t *)"neighbour",
            9,
            tables == TABLE_NONE ? NULL : &neighbour_tables[tables],
        };
    jobs[lane] = *job;
    uint64_t own = (uint64_t)good << lane, others = 0xff & ~(UINT64_C(1) << lane);
    CHECK(ed25519_verify(jobs, 8) == (own | others));
    if (lane == 0)
        CHECK(ed25519_verify_by(ED25519_COMB, jobs, 8) == (own | others));
    for (unsigned i = 0; i < 8; i++)
        if (i != lane)
            jobs[i].signature = neighbour_bad;
    CHECK(ed25519_verify(jobs, 8) == own);
}

/* The verdict of libsodium, which every other path shares: alone, and in places of a call that go
 * round among good and among bad signatures, with each table and without. */
static bool verify(const uint8_t *key, const uint8_t *signature, const void *message, size_t count)
{
    static struct entries entries;
    static unsigned turn;
    struct ed25519_table table;
    struct ed25519_job job = { key, signature, message, count, NULL };
    bool good = ed25519_verify_by(ED25519_LIBRARY, &job, 1) == 1;
    for (unsigned tables = TABLE_WIDE; tables <= TABLE_NONE; tables++) {
        job.table = NULL;
        if (tables != TABLE_NONE && build(&table, &entries, sizes[tables], key))
            job.table = &table;
        else if (tables != TABLE_NONE)
            CHECK(!good);
        CHECK(ed25519_verify(&job, 1) == good);
        CHECK(ed25519_verify_by(ED25519_COMB, &job, 1) == good);
        for (unsigned i = 0; i < PLACES; i++)
            check_among(&job, turn++ % 8, (enum tables)tables, good);
    }
    return good;
}

static size_t from_base64(const struct tree *object, const char *name, uint8_t *bytes)
{
    const char *text = tree_text(object, name);
    ptrdiff_t count = base64_decode(bytes, BYTES_MAX, text, strlen(text), NULL);
    CHECK(count >= 0);
    return (size_t)count;
}

/* The binary frame is payload, key, signature; the seed gives that signature. */
static void check_valid_envelope(const struct tree *v, const uint8_t *payload, size_t payload_bytes,
                                 const uint8_t key[32], const uint8_t signature[64])
{
    static uint8_t bytes[BYTES_MAX];
    CHECK(tree_hex(v, "payload_hex", bytes, sizeof bytes) == payload_bytes);
    CHECK(memcmp(bytes, payload, payload_bytes) == 0);
    CHECK(tree_hex(v, "binary_frame_hex", bytes, sizeof bytes) == payload_bytes + 96);
    CHECK(memcmp(bytes, payload, payload_bytes) == 0);
    CHECK(memcmp(bytes + payload_bytes, key, 32) == 0);
    CHECK(memcmp(bytes + payload_bytes + 32, signature, 64) == 0);

    uint8_t seed[SIGNER_SEED_BYTES];
    struct signer_ed25519 signer;
    CHECK(tree_hex(v, "seed", seed, sizeof seed) == sizeof seed);
    signer_ed25519(&signer, seed);
    CHECK(memcmp(signer.key, key, 32) == 0);
    uint8_t signed_again[64];
    signer_ed25519_sign(&signer, payload, payload_bytes, signed_again);
    CHECK(memcmp(signed_again, signature, 64) == 0);
    CHECK(ed25519_key_is_valid(key));
}

static void test_own_vectors(void)
{
    struct tree *file = tree_load("tests/vectors/perpd/ed25519.json");
    static uint8_t payload[BYTES_MAX], key[BYTES_MAX], signature[BYTES_MAX];
    unsigned count = 0;
    unsigned valid = 0;
    for (struct tree *v = tree_get(file, "vectors")->first; v != NULL; v = v->next, count++) {
        const struct tree *envelope = tree_get(v, "envelope");
        size_t payload_bytes = from_base64(envelope, "payload", payload);
        CHECK(from_base64(envelope, "public_key", key) == 32);
        CHECK(from_base64(envelope, "signature", signature) == 64);
        bool good = verify(key, signature, payload, payload_bytes);
        CHECK(good == (tree_int(v, "valid") != 0));
        valid += good;
        if (good)
            check_valid_envelope(v, payload, payload_bytes, key, signature);
        if (strstr(tree_text(v, "name"), "small_order_key") != NULL ||
            strcmp(tree_text(v, "name"), "non_canonical_key") == 0)
            CHECK(!ed25519_key_is_valid(key));
    }
    CHECK(count == OWN_VECTORS && valid == OWN_VALID);
    tree_free(file);
}

static void test_wycheproof(void)
{
    struct tree *file = tree_load("tests/vectors/published/ed25519_test.json");
    static uint8_t message[BYTES_MAX], signature[BYTES_MAX];
    unsigned count = 0;
    unsigned other_length = 0;
    for (struct tree *group = tree_get(file, "testGroups")->first; group; group = group->next) {
        uint8_t key[32];
        CHECK(tree_hex(tree_get(group, "publicKey"), "pk", key, sizeof key) == sizeof key);
        for (struct tree *v = tree_get(group, "tests")->first; v != NULL; v = v->next, count++) {
            size_t message_bytes = tree_hex(v, "msg", message, sizeof message);
            size_t signature_bytes = tree_hex(v, "sig", signature, sizeof signature);
            bool want = strcmp(tree_text(v, "result"), "valid") == 0;
            other_length += signature_bytes != 64;
            bool good = signature_bytes == 64 && verify(key, signature, message, message_bytes);
            CHECK(good == want);
        }
    }
    CHECK(count == WYCHEPROOF_VECTORS && other_length == WYCHEPROOF_OTHER_LENGTH);
    CHECK(tree_int(file, "numberOfTests") == count);
    tree_free(file);
}

static bool has_flag(const struct tree *flags, const char *name)
{
    for (const struct tree *flag = flags->first; flag != NULL; flag = flag->next)
        if (flag->kind == JSON_STRING && strcmp(flag->text, name) == 0)
            return true;
    return false;
}

/* CCTV says what is odd about each case. Strict and cofactorless refuses small-order and
 * non-canonical A and R, and what holds only up to small order; mixed order alone is accepted. */
static bool cctv_verdict(const struct tree *flags)
{
    for (const struct tree *flag = flags->first; flag != NULL; flag = flag->next)
        if (strcmp(flag->text, "low_order_component_A") != 0 &&
            strcmp(flag->text, "low_order_component_R") != 0)
            return false;
    return true;
}

static void test_cctv(void)
{
    struct tree *file = tree_load("tests/vectors/published/cctv_ed25519vectors.json");
    unsigned count = 0;
    unsigned valid = 0;
    for (struct tree *v = tree_get(file, "items")->first; v != NULL; v = v->next, count++) {
        uint8_t key[32], signature[64];
        CHECK(tree_hex(v, "key", key, sizeof key) == sizeof key);
        CHECK(tree_hex(v, "sig", signature, sizeof signature) == sizeof signature);
        const char *message = tree_text(v, "msg");
        const struct tree *flags = tree_get(v, "flags");
        bool good = verify(key, signature, message, strlen(message));
        CHECK(good == cctv_verdict(flags));
        valid += good;
        bool odd_key = has_flag(flags, "low_order_A") || has_flag(flags, "non_canonical_A");
        CHECK(ed25519_key_is_valid(key) == !odd_key);
    }
    CHECK(count == CCTV_VECTORS && valid == CCTV_VALID);
    tree_free(file);
}

/* y = p - 1 + n for each n: -1 (order 2), then every non-canonical encoding of 0 .. 18. */
static void test_key_edges(void)
{
    for (unsigned n = 0; n < 20; n++) {
        for (unsigned sign = 0; sign < 2; sign++) {
            uint8_t key[32];
            memset(key, 0xff, sizeof key);
            key[0] = (uint8_t)(0xec + n); /* p = 2^255 - 19 ends with 0xed */
            key[31] = (uint8_t)(0x7f | sign << 7);
            CHECK(!ed25519_key_is_valid(key));
        }
    }
    uint8_t below[32];
    memset(below, 0xff, sizeof below);
    below[0] = 0xeb; /* p - 2: canonical, not of small order */
    below[31] = 0x7f;
    CHECK(ed25519_key_is_valid(below));
    uint8_t small[32] = { 0 };
    CHECK(!ed25519_key_is_valid(small));
    small[0] = 1;
    CHECK(!ed25519_key_is_valid(small));
    small[31] = 0x80;
    CHECK(!ed25519_key_is_valid(small));
    small[0] = 2;
    CHECK(ed25519_key_is_valid(small));
}

/* A batch: one bit for each job, none leaks into another's. */
static void test_batch(void)
{
    struct signer_ed25519 signer;
    uint8_t seed[SIGNER_SEED_BYTES] = { 7 };
    signer_ed25519(&signer, seed);
    uint8_t messages[ED25519_BATCH_MAX][72], signatures[ED25519_BATCH_MAX][64];
    struct ed25519_job jobs[ED25519_BATCH_MAX];
    uint64_t want = 0;
    for (unsigned i = 0; i < ED25519_BATCH_MAX; i++) {
        memset(messages[i], (int)i, sizeof messages[i]);
        signer_ed25519_sign(&signer, messages[i], sizeof messages[i], signatures[i]);
        if (i % 3 == 1)
            signatures[i][i] ^= 1;
        else
            want |= UINT64_C(1) << i;
        jobs[i] = (struct ed25519_job){ signer.key, signatures[i], messages[i], sizeof messages[i],
                                        NULL };
    }
    CHECK(ed25519_verify(jobs, ED25519_BATCH_MAX) == want);
    CHECK(ed25519_verify(jobs, 5) == (want & 31));
    CHECK(ed25519_verify(jobs, 0) == 0);
}

int main(void)
{
    CHECK(ed25519_init(ED25519_LANES) == 0 && signer_init() == 0);
    prepare_neighbour();
    test_own_vectors();
    test_wycheproof();
    test_cctv();
    test_key_edges();
    test_batch();
    return 0;
}
