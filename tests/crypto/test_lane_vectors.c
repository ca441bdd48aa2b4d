/* ed25519_lanes: every published vector (Wycheproof, CCTV) and our own, in every lane, beside seven
 * good signatures and beside seven bad ones: the verdict is the vector's and no neighbour's
 * changes. By tables of both sizes, spread over lanes, and without tables. */
#include "base/base64.h"
#include "base/cpu.h"
#include "check.h"
#include "crypto/ed25519_base.h"
#include "crypto/ed25519_lanes.h"
#include "crypto/signer.h"
#include "support/tree.h"

enum {
    VECTORS = 139 + 914 + 33, /* of Wycheproof those with 64 bytes of signature */
    BYTES_MAX = 8192,
    TEXT_MAX = 400000,
    LANES = ED25519_LANES_COUNT,
    SPLIT = ED25519_LANES_SPLIT_MAX,
    LARGE = ED25519_TABLE_POSITIONS,
    SMALL = ED25519_TABLE_POSITIONS_SMALL,
};

struct vector {
    uint8_t key[32];
    uint8_t signature[64];
    const uint8_t *message;
    size_t message_bytes;
    bool is_good;
};

static struct vector vectors[VECTORS];
static unsigned vector_count;
static uint8_t text[TEXT_MAX];
static size_t text_used;

static struct vector *add_vector(const uint8_t *message, size_t bytes)
{
    CHECK(vector_count < VECTORS && bytes <= TEXT_MAX - text_used);
    struct vector *vector = &vectors[vector_count++];
    memcpy(text + text_used, message, bytes);
    vector->message = text + text_used;
    vector->message_bytes = bytes;
    text_used += bytes;
    return vector;
}

static size_t from_base64(const struct tree *object, const char *name, uint8_t *bytes)
{
    const char *string = tree_text(object, name);
    ptrdiff_t count = base64_decode(bytes, BYTES_MAX, string, strlen(string), NULL);
    CHECK(count >= 0);
    return (size_t)count;
}

static void load_own(void)
{
    struct tree *file = tree_load("tests/vectors/perpd/ed25519.json");
    static uint8_t bytes[BYTES_MAX];
    for (struct tree *v = tree_get(file, "vectors")->first; v != NULL; v = v->next) {
        const struct tree *envelope = tree_get(v, "envelope");
        struct vector *vector = add_vector(bytes, from_base64(envelope, "payload", bytes));
        CHECK(from_base64(envelope, "public_key", bytes) == 32);
        memcpy(vector->key, bytes, 32);
        CHECK(from_base64(envelope, "signature", bytes) == 64);
        memcpy(vector->signature, bytes, 64);
        vector->is_good = tree_int(v, "valid") != 0;
    }
    tree_free(file);
}

static void load_wycheproof(void)
{
    struct tree *file = tree_load("tests/vectors/published/ed25519_test.json");
    static uint8_t message[BYTES_MAX], signature[BYTES_MAX];
    for (struct tree *group = tree_get(file, "testGroups")->first; group; group = group->next) {
        for (struct tree *v = tree_get(group, "tests")->first; v != NULL; v = v->next) {
            size_t message_bytes = tree_hex(v, "msg", message, sizeof message);
            if (tree_hex(v, "sig", signature, sizeof signature) != 64)
                continue;
            struct vector *vector = add_vector(message, message_bytes);
            tree_hex(tree_get(group, "publicKey"), "pk", vector->key, sizeof vector->key);
            memcpy(vector->signature, signature, 64);
            vector->is_good = strcmp(tree_text(v, "result"), "valid") == 0;
        }
    }
    tree_free(file);
}

/* Good by wire.md W4 is what has nothing odd but a part of small order in A or R. */
static bool cctv_verdict(const struct tree *flags)
{
    for (const struct tree *flag = flags->first; flag != NULL; flag = flag->next)
        if (strcmp(flag->text, "low_order_component_A") != 0 &&
            strcmp(flag->text, "low_order_component_R") != 0)
            return false;
    return true;
}

static void load_cctv(void)
{
    struct tree *file = tree_load("tests/vectors/published/cctv_ed25519vectors.json");
    for (struct tree *v = tree_get(file, "items")->first; v != NULL; v = v->next) {
        const char *message = tree_text(v, "msg");
        struct vector *vector = add_vector((const uint8_t *)message, strlen(message));
        tree_hex(v, "key", vector->key, sizeof vector->key);
        tree_hex(v, "sig", vector->signature, sizeof vector->signature);
        vector->is_good = cctv_verdict(tree_get(v, "flags"));
    }
    tree_free(file);
}

/* The other signatures of a call: good ones of eight keys, messages of other lengths, and bad ones,
 * each spoilt in another place. */
static alignas(64) struct ed25519_multiple neighbour_entries[LANES][LARGE * 8];
static struct ed25519_table neighbour_tables[LANES];
static struct signer_ed25519 signers[LANES];
static uint8_t messages[LANES][512];
static uint8_t good_signatures[LANES][64], bad_signatures[LANES][64];
static struct ed25519_job good[LANES], bad[LANES];

static void make_neighbours(void)
{
    for (unsigned i = 0; i < LANES; i++) {
        uint8_t seed[SIGNER_SEED_BYTES] = { (uint8_t)(i + 1) };
        signer_ed25519(&signers[i], seed);
        memset(messages[i], (int)(i + 'a'), sizeof messages[i]);
        size_t bytes = (size_t)i * 73; /* 0 .. 511: one to five blocks */
        signer_ed25519_sign(&signers[i], messages[i], bytes, good_signatures[i]);
        memcpy(bad_signatures[i], good_signatures[i], 64);
        bad_signatures[i][i * 8 + 1] ^= (uint8_t)(1 << i); /* R in four, S in four */
        if (i == 7)
            memset(bad_signatures[i] + 32, 0xff, 32); /* beyond L: decided before arithmetic */
        neighbour_tables[i] =
            (struct ed25519_table){ .multiples = neighbour_entries[i], .positions = LARGE };
        CHECK(ed25519_table_build(neighbour_entries[i], LARGE, signers[i].key) == 0);
        good[i] = (struct ed25519_job){ signers[i].key, good_signatures[i], messages[i], bytes,
                                        &neighbour_tables[i] };
        bad[i] = good[i];
        bad[i].signature = bad_signatures[i];
    }
}

/* Sanitizers take ten times as long: there each vector has one lane, the next vector the next. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { PLACES_APART = LANES };
#else
enum { PLACES_APART = 1 };
#endif

/* The vector's job in every lane of `count`, the neighbours in the others. */
static void check_places(const struct ed25519_job *job, bool is_good, unsigned count,
                         uint64_t (*verify)(const struct ed25519_job *, unsigned))
{
    static unsigned calls;
    unsigned first = PLACES_APART > 1 ? calls++ / 7 % count : 0; /* 7 calls a vector */
    for (unsigned lane = first; lane < count; lane += PLACES_APART) {
        uint64_t own = UINT64_C(1) << lane;
        uint64_t others = ((UINT64_C(1) << count) - 1) & ~own;
        struct ed25519_job jobs[LANES];
        memcpy(jobs, good, sizeof jobs);
        jobs[lane] = *job;
        CHECK(verify(jobs, count) == (others | (is_good ? own : 0)));
        memcpy(jobs, bad, sizeof jobs);
        jobs[lane] = *job;
        CHECK(verify(jobs, count) == (is_good ? own : 0));
    }
}

static void check_vector(const struct vector *vector)
{
    static alignas(64) struct ed25519_multiple entries[LARGE * 8];
    struct ed25519_table table = { .multiples = entries };
    struct ed25519_job job = { vector->key, vector->signature, vector->message,
                               vector->message_bytes, NULL };
    check_places(&job, vector->is_good, LANES, ed25519_lanes_uncached);
    job.table = &table;
    table.positions = SMALL;
    if (ed25519_table_build(entries, SMALL, vector->key) != 0) {
        CHECK(!vector->is_good);
        return;
    }
    check_places(&job, vector->is_good, LANES, ed25519_lanes_cached);
    table.positions = LARGE;
    CHECK(ed25519_table_build(entries, LARGE, vector->key) == 0);
    check_places(&job, vector->is_good, LANES, ed25519_lanes_cached);
    for (unsigned count = 1; count <= SPLIT; count++)
        check_places(&job, vector->is_good, count, ed25519_lanes_split);
}

int main(void)
{
    CHECK(ed25519_lanes_is_supported() == cpu_has_lanes());
    if (!ed25519_lanes_is_supported()) {
        puts("this machine has no AVX-512 IFMA");
        return 77;
    }
    CHECK(signer_init() == 0);
    ed25519_base_init();
    load_own();
    load_wycheproof();
    load_cctv();
    CHECK(vector_count == VECTORS);
    make_neighbours();
    CHECK(ed25519_lanes_cached(good, LANES) == 0xff && ed25519_lanes_cached(bad, LANES) == 0);
    unsigned good_count = 0;
    for (unsigned i = 0; i < VECTORS; i++) {
        good_count += vectors[i].is_good;
        check_vector(&vectors[i]);
    }
    CHECK(good_count > 100);
    return 0;
}
