#include "crypto/ed25519_selftest.h"

#include "base/hex.h"
#include "crypto/ed25519_lanes.h"

/* clang-format off */
static const struct row {
    const char *message;
    bool good;
    const char *key;
    const char *signature;
} rows[] = {
    { "", true, /* RFC 8032, test 1 */
      "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
      "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b" },
    { "r", true, /* RFC 8032, test 2 */
      "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
      "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
      "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00" },
    { "ed25519vectors", true, /* R and A of mixed order, CCTV 7 */
      "10eb7c3acfb2bed3e0d6ab89bf5a3d6afddd1176ce4812e38d9fd485058fdb1f",
      "36684ea91032ba5b1dbab2d02f4debc74c3327f2b3802e2e4d371aa42b12b56b"
      "bbfd00bd9c259d8d222d15e67a3d8228585050dbb9b9585be20d8fadc721da03" },
    { "ed25519vectors 7", true, /* the same, another key, CCTV 411 */
      "6718d0a3d58deaeaefa655eae3f119071deaa2cfebfd0ca28b670f879d657086",
      "36684ea91032ba5b1dbab2d02f4debc74c3327f2b3802e2e4d371aa42b12b56b"
      "d79e8fd671739b78d219e13e1b578516549b9c90c988249f62d1d6a2b40ea606" },
    { "ed25519vectors 5", true, /* A of mixed order, CCTV 50 */
      "10eb7c3acfb2bed3e0d6ab89bf5a3d6afddd1176ce4812e38d9fd485058fdb1f",
      "b62cf890de42c413b11b1411c9f01f1c4d77aa87ef182258d1251f69af2a3506"
      "08f32d206a7c0b7efa9a59e66546e8f1f599ef843fb502c9cc3c4ae8b7c11e05" },
    { "ed25519vectors 10", false, /* good up to small order, CCTV 6 */
      "10eb7c3acfb2bed3e0d6ab89bf5a3d6afddd1176ce4812e38d9fd485058fdb1f",
      "36684ea91032ba5b1dbab2d02f4debc74c3327f2b3802e2e4d371aa42b12b56b"
      "c02e2b9e63e385c058bf62b14b3a2b29ccefe8e38ddb536bc3f9865320a3d801" },
    { "ed25519vectors 9", false, /* good up to small order, CCTV 28 */
      "10eb7c3acfb2bed3e0d6ab89bf5a3d6afddd1176ce4812e38d9fd485058fdb1f",
      "b797b156efcd45a4e2454d2fd0b21438b3ccd80d4c7fd1d1b2c8e55bd4ed4a94"
      "639734cf989e314e9e049fc01a3864d191fed8f231b12fee6fa50aaadba44b0e" },
    { "ed25519vectors 1", false, /* the same, CCTV 464 */
      "6718d0a3d58deaeaefa655eae3f119071deaa2cfebfd0ca28b670f879d657086",
      "5ae36d433a7bd0efb150b6b04610d1986e3044c46b6ad69bae17aaf76b608d21"
      "f7d88566da564c6fa777235d8864b9df8d63ee4369bcc3dbf0f421fdfe9d7309" },
    { "ed25519vectors 9", false, /* the same, CCTV 410 */
      "6718d0a3d58deaeaefa655eae3f119071deaa2cfebfd0ca28b670f879d657086",
      "36684ea91032ba5b1dbab2d02f4debc74c3327f2b3802e2e4d371aa42b12b56b"
      "8043872d01ef87b42d987e20d1f5604f591441bec276cb285e00c60c3854a307" },
    { "ed25519vectors 3", false, /* A of order L, good up to small order, CCTV 267 */
      "ef75b20e7540e3dff77404193652ba2bd13df99c1508eee1515e27ae25f28076",
      "36684ea91032ba5b1dbab2d02f4debc74c3327f2b3802e2e4d371aa42b12b56b"
      "2d471882773a677af1e3824e757a33f8ddf7bbeaf3d28a09595eb8daa0d74a03" },
    { "ed25519vectors 3", false, /* R of small order, CCTV 5 */
      "10eb7c3acfb2bed3e0d6ab89bf5a3d6afddd1176ce4812e38d9fd485058fdb1f",
      "0000000000000000000000000000000000000000000000000000000000000000"
      "9472a69cd9a701a50d130ed52189e2455b23767db52cacb8716fb896ffeeac09" },
    { "ed25519vectors 2", false, /* R of order 1, sign bit set, CCTV 60 */
      "10eb7c3acfb2bed3e0d6ab89bf5a3d6afddd1176ce4812e38d9fd485058fdb1f",
      "0100000000000000000000000000000000000000000000000000000000000080"
      "c85efbb96e35e1b671722d5d8de687d4e148ea15ec566be6a1f3cfb8a10a9d06" },
    { "ed25519vectors 1", false, /* R = p + 1, CCTV 66 */
      "10eb7c3acfb2bed3e0d6ab89bf5a3d6afddd1176ce4812e38d9fd485058fdb1f",
      "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"
      "97f5fc03f658b5b733cf20c4ea5577e8e5988ee90cb2a3c919c2a05dd2fcde04" },
    { "ed25519vectors 3", false, /* A of small order, CCTV 3 */
      "0000000000000000000000000000000000000000000000000000000000000000",
      "36684ea91032ba5b1dbab2d02f4debc74c3327f2b3802e2e4d371aa42b12b56b"
      "05ba9a796274d80437afa36f1236563f2f3b0aa84cecddc3d20914615ba4fe02" },
    { "ed25519vectors", false, /* A = p, CCTV 11 */
      "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
      "36684ea91032ba5b1dbab2d02f4debc74c3327f2b3802e2e4d371aa42b12b56b"
      "05ba9a796274d80437afa36f1236563f2f3b0aa84cecddc3d20914615ba4fe02" },
};
/* clang-format on */

enum {
    MESSAGE_MAX = 32,
    MUTATIONS = 4, /* of a good row; each makes it bad */
    GOOD_ROWS = 5,
    KEYS = 5, /* that can sign */
    VECTORS = CC_COUNT(rows) + GOOD_ROWS * MUTATIONS,
};

static_assert((unsigned)VECTORS <= ED25519_BATCH_MAX, "one call takes them all");

struct vector {
    uint8_t key[ED25519_KEY_BYTES];
    uint8_t signature[ED25519_SIGNATURE_BYTES];
    uint8_t message[MESSAGE_MAX];
    size_t message_bytes;
    bool good;
};

/* ed25519_selftest writes it; it is too large for a stack. */
static alignas(ED25519_TABLE_ALIGN) struct ed25519_multiple
    multiples[KEYS][ED25519_TABLE_POSITIONS * ED25519_TABLE_MULTIPLES];

static void read_row(struct vector *vector, const struct row *row)
{
    bool read = hex_decode(vector->key, sizeof vector->key, row->key, strlen(row->key)) &&
                hex_decode(vector->signature, sizeof vector->signature, row->signature,
                           strlen(row->signature));
    vector->message_bytes = strlen(row->message);
    vector->good = row->good;
    INVARIANT(read && vector->message_bytes < MESSAGE_MAX);
    memset(vector->message, 0, sizeof vector->message);
    memcpy(vector->message, row->message, vector->message_bytes);
}

/* S + L satisfies the same equation as S. */
static void add_order(uint8_t scalar[32])
{
    static const uint8_t order[32] = { 0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58,
                                       0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
                                       0,    0,    0,    0,    0,    0,    0,    0,
                                       0,    0,    0,    0,    0,    0,    0,    0x10 };
    unsigned sum = 0;
    for (unsigned i = 0; i < sizeof order; i++) {
        sum += (unsigned)scalar[i] + order[i];
        scalar[i] = (uint8_t)sum;
        sum >>= 8;
    }
}

static void mutate(struct vector *vector, unsigned mutation)
{
    vector->good = false;
    switch (mutation) {
    case 0:
        add_order(vector->signature + 32);
        break;
    case 1:
        vector->signature[0] ^= 1; /* R */
        break;
    case 2:
        vector->signature[32] ^= 1; /* S */
        break;
    default:
        vector->message_bytes++;
        break;
    }
}

static void fill(struct vector vectors[VECTORS])
{
    unsigned count = 0;
    for (unsigned i = 0; i < CC_COUNT(rows); i++) {
        struct vector vector;
        read_row(&vector, &rows[i]);
        vectors[count++] = vector;
        for (unsigned mutation = 0; rows[i].good && mutation < MUTATIONS; mutation++) {
            INVARIANT(count < VECTORS);
            vectors[count] = vector;
            mutate(&vectors[count++], mutation);
        }
    }
    INVARIANT(count == VECTORS);
}

/* Builds a table of `positions` for each key that can sign. Returns how many keys. */
static unsigned build_tables(struct ed25519_table tables[KEYS], uint32_t positions,
                             const struct vector vectors[VECTORS])
{
    unsigned count = 0;
    for (unsigned i = 0; i < VECTORS; i++) {
        unsigned known = 0;
        while (known < count &&
               memcmp(tables[known].key, vectors[i].key, sizeof vectors[i].key) != 0)
            known++;
        if (known < count || !ed25519_key_is_valid(vectors[i].key))
            continue;
        INVARIANT(count < KEYS);
        if (ed25519_table_build(multiples[count], positions, vectors[i].key) != 0)
            continue;
        tables[count] =
            (struct ed25519_table){ .multiples = multiples[count], .positions = positions };
        memcpy(tables[count++].key, vectors[i].key, sizeof vectors[i].key);
    }
    return count;
}

static const struct ed25519_table *find(const struct ed25519_table *tables, unsigned count,
                                        const uint8_t key[ED25519_KEY_BYTES])
{
    for (unsigned i = 0; i < count; i++)
        if (memcmp(tables[i].key, key, ED25519_KEY_BYTES) == 0)
            return &tables[i];
    return NULL;
}

/* Verifies all vectors from the one at `shift` on, `at_once` a call. Another shift moves each
 * vector to another lane. */
static bool passes(enum ed25519_path path, const struct vector vectors[VECTORS],
                   const struct ed25519_table *tables, unsigned table_count, unsigned shift,
                   unsigned at_once)
{
    struct ed25519_job jobs[VECTORS];
    for (unsigned i = 0; i < VECTORS; i++) {
        const struct vector *vector = &vectors[(i + shift) % VECTORS];
        jobs[i] =
            (struct ed25519_job){ vector->key, vector->signature, vector->message,
                                  vector->message_bytes, find(tables, table_count, vector->key) };
    }
    for (unsigned first = 0; first < VECTORS; first += at_once) {
        unsigned count = VECTORS - first < at_once ? VECTORS - first : at_once;
        uint64_t good = ed25519_verify_by(path, jobs + first, count);
        for (unsigned i = 0; i < count; i++)
            if ((good >> i & 1) != vectors[(first + i + shift) % VECTORS].good)
                return false;
    }
    return true;
}

/* In full calls of the lanes every vector meets every lane. Calls of 2 to 4 jobs, and those without
 * tables, are too slow for that. Good vectors are five apart, so one round brings some to each lane
 * of 2, 3 and 4 and two rounds to each lane of 8; bad vectors are more and reach every lane. */
bool ed25519_selftest(enum ed25519_path path)
{
    static const uint32_t sizes[] = { ED25519_TABLE_POSITIONS_SMALL, ED25519_TABLE_POSITIONS };
    struct vector vectors[VECTORS];
    struct ed25519_table tables[KEYS];
    unsigned shifts = path == ED25519_LANES ? ED25519_LANES_COUNT : 1;
    fill(vectors);
    for (unsigned shift = 0; shift < shifts && shift < 2; shift++)
        if (!passes(path, vectors, NULL, 0, shift, VECTORS))
            return false;
    if (path == ED25519_LIBRARY)
        return true;
    for (unsigned i = 0; i < CC_COUNT(sizes); i++) {
        unsigned count = build_tables(tables, sizes[i], vectors);
        if (count != KEYS)
            return false;
        for (unsigned shift = 0; shift < shifts; shift++)
            if (!passes(path, vectors, tables, count, shift, VECTORS))
                return false;
    }
    for (unsigned at_once = 1; at_once <= ED25519_LANES_SPLIT_MAX; at_once++)
        if (path == ED25519_LANES && !passes(path, vectors, tables, KEYS, 0, at_once))
            return false;
    return true;
}
