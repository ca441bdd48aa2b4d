/* ed25519: every path gives libsodium 1.0.18's verdict (signatures.md, Tests) for cases of fourteen
 * kinds, 1 to 64 a call, messages of 0 to 4,096 bytes of different lengths in a call, with each
 * kind of table and without.
 *
 *   test_crypto_ed25519_differential [CASES [SEED]]     2,000,000 cases is the nightly size */
#include "check.h"
#include "crypto/ed25519.h"
#include "crypto/forge.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { CASES = 4000 };
#else
enum { CASES = 100000 };
#endif

/* How the jobs of a call come by their tables. */
enum tables { TABLES_WIDE, TABLES_SMALL, TABLES_NONE, TABLES_ANY, TABLES_OTHER, TABLES };

static const uint32_t sizes[] = { ED25519_TABLE_POSITIONS, ED25519_TABLE_POSITIONS_SMALL };

struct keyed {
    struct ed25519_table tables[2];
    alignas(ED25519_TABLE_ALIGN) struct ed25519_multiple
        wide[ED25519_TABLE_POSITIONS * ED25519_TABLE_MULTIPLES];
    struct ed25519_multiple small[ED25519_TABLE_POSITIONS_SMALL * ED25519_TABLE_MULTIPLES];
};

static struct forge forge;
static struct keyed known[FORGE_KEYS];
static struct keyed spoilt[ED25519_BATCH_MAX];
static struct forged cases[ED25519_BATCH_MAX];
static uint64_t verdicts[FORGE_KINDS][2];

/* The tables of a key; false when it can never sign. */
static bool build(struct keyed *keyed, const uint8_t key[32])
{
    struct ed25519_multiple *entries[] = { keyed->wide, keyed->small };
    for (unsigned i = 0; i < 2; i++) {
        if (ed25519_table_build(entries[i], sizes[i], key) != 0)
            return false;
        keyed->tables[i] = (struct ed25519_table){ .multiples = entries[i], .positions = sizes[i] };
        memcpy(keyed->tables[i].key, key, 32);
    }
    return true;
}

static const struct ed25519_table *choose_table(unsigned index, enum tables tables)
{
    const struct forged *forged = &cases[index];
    if (tables == TABLES_ANY)
        tables = (enum tables)forge_random(&forge, TABLES_ANY);
    if (tables == TABLES_NONE)
        return NULL;
    if (tables == TABLES_OTHER) /* of another key, mostly: must be taken for none */
        return &known[forge_random(&forge, FORGE_KEYS)].tables[forge_random(&forge, 2)];
    if (forged->key_index < FORGE_KEYS)
        return &known[forged->key_index].tables[tables];
    return build(&spoilt[index], forged->key) ? &spoilt[index].tables[tables] : NULL;
}

static void check_path(enum ed25519_path path, const struct ed25519_job *jobs, unsigned count,
                       uint64_t want)
{
    uint64_t wrong = ed25519_verify_by(path, jobs, count) ^ want;
    for (unsigned i = 0; i < count; i++)
        if ((wrong >> i & 1) != 0)
            fprintf(stderr, "%s: kind %u, job %u of %u, %zu bytes, table of %u, want %d\n",
                    ed25519_path_name(path), cases[i].kind, i, count, cases[i].message_bytes,
                    jobs[i].table == NULL ? 0 : jobs[i].table->positions, (int)(want >> i & 1));
    CHECK(wrong == 0);
}

/* Few a call more often: each number below 8 has a plan of its own. */
static unsigned batch_size(void)
{
    return 1 + (unsigned)forge_random(&forge, forge_random(&forge, 2) == 0 ? 8 : ED25519_BATCH_MAX);
}

static unsigned run_batch(void)
{
    struct ed25519_job jobs[ED25519_BATCH_MAX];
    unsigned count = batch_size();
    enum tables tables = (enum tables)forge_random(&forge, TABLES);
    for (unsigned i = 0; i < count; i++) {
        struct forged *forged = &cases[i];
        forge_next(&forge, forged);
        jobs[i] = (struct ed25519_job){ forged->key, forged->signature, forged->message,
                                        forged->message_bytes, choose_table(i, tables) };
    }
    uint64_t want = ed25519_verify_by(ED25519_LIBRARY, jobs, count);
    for (unsigned i = 0; i < count; i++)
        verdicts[cases[i].kind][want >> i & 1]++;
    if (ed25519_refusal(ED25519_LANES) == NULL)
        check_path(ED25519_LANES, jobs, count, want);
    check_path(ED25519_COMB, jobs, count, want);
    return count;
}

int main(int argc, char **argv)
{
    uint64_t total = argc > 1 ? strtoull(argv[1], NULL, 10) : CASES;
    CHECK(ed25519_init(ED25519_LANES) == 0 && signer_init() == 0);
    CHECK(ed25519_refusal(ED25519_COMB) == NULL && ed25519_refusal(ED25519_LIBRARY) == NULL);
    forge_init(&forge, argc > 2 ? strtoull(argv[2], NULL, 10) : 1);
    for (unsigned i = 0; i < FORGE_KEYS; i++)
        CHECK(build(&known[i], forge.keys[i]));
    for (uint64_t done = 0; done < total;)
        done += run_batch();
    printf("paths: %s%s\n", ed25519_refusal(ED25519_LANES) == NULL ? "lanes " : "", "comb");
    for (unsigned kind = 0; kind < FORGE_KINDS; kind++)
        printf("kind %2u: %7llu bad %7llu good\n", kind, (unsigned long long)verdicts[kind][0],
               (unsigned long long)verdicts[kind][1]);
    /* Crafted keys and R give verdicts of both sorts, or they do not tell cofactored from
     * strict. */
    CHECK(verdicts[0][0] == 0 && verdicts[1][0] == 0);
    CHECK(verdicts[11][0] > 0 && verdicts[11][1] > 0);
    return 0;
}
