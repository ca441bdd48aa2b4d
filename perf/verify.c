/* verify.c - the cost of verifying a signature, as a ratio to libsodium's Ed25519 in the same
 * process: Ed25519 by path, kind of table and number of signatures a call; the curves of master
 * keys.
 *
 * `perf-verify [--rounds R] [--keys K] [--path lanes|comb] [--json]`
 *
 * Every round times every case once, with libsodium just before each, on the CPU time of the
 * thread, so a machine that slows down for a while slows both. Printed per case: the least time of
 * a signature over the rounds, the median, and the median of the rounds' ratios to libsodium. `many
 * keys` uses another of K keys (4,096) at random for each signature, with their tables in pages of
 * 2 MB; the other cases cycle through 64 keys. Messages have 100 bytes; secp256k1 and p256 sign a
 * digest under one key, and `cached` has both coordinates of it. --json prints one JSON object
 * instead of the table. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "base/hex.h"
#include "base/version.h"
#include "crypto/ed25519.h"
#include "crypto/p256.h"
#include "crypto/secp256k1.h"
#include "crypto/signer.h"

enum {
    MESSAGE_BYTES = 100,
    FEW_KEYS = 64,
    KEYS_MAX = 65536,
    ROUNDS_MAX = 1001,
    SIGNATURES = 192, /* of a case in a round */
    LIBRARY_SIGNATURES = 8,
    MASTER_SIGNATURES = 24, /* likewise, of the curves of master keys */
    CASES_MAX = 64,
    TABLE_KINDS = 3,
    PAGE_BYTES = 2 << 20,
};

enum table_kind { TABLE_WIDE, TABLE_SMALL, TABLE_NONE };

struct signature {
    uint8_t key[ED25519_KEY_BYTES];
    uint8_t bytes[ED25519_SIGNATURE_BYTES];
    uint8_t message[MESSAGE_BYTES];
    struct ed25519_table tables[TABLE_NONE];
};

/* A signature under a master key: of a wallet or a passkey. */
struct master_signature {
    uint8_t key[P256_KEY_BYTES], digest[P256_DIGEST_BYTES], bytes[P256_SIGNATURE_BYTES];
};

struct test_case {
    const char *path_name, *table_name;
    bool (*verify_master)(void); /* of cases that are not Ed25519; else NULL */
    enum ed25519_path path;
    enum table_kind table;
    unsigned at_once;
    bool many;
    double us[ROUNDS_MAX];
    double ratio[ROUNDS_MAX];
};

struct settings {
    unsigned rounds, keys;
    bool json;
    bool paths[ED25519_PATHS];
};

static const char *const table_names[TABLE_KINDS] = { "24 KB", "6 KB", "none" };
static struct signature *signatures;
static struct master_signature wallet, passkey;
static struct p256_cache p256_keys;
static struct test_case cases[CASES_MAX];
static unsigned case_count;
static uint64_t random_state = 1;

_Noreturn static void fail(const char *what)
{
    fprintf(stderr, "perf-verify: %s\n", what);
    exit(1);
}

static uint64_t random_below(uint64_t bound)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (random_state >> 33) % bound;
}

static double cpu_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void *take(size_t bytes)
{
    bytes = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    uint8_t *memory = mmap(NULL, bytes + PAGE_BYTES, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        fail("out of memory");
    memory += PAGE_BYTES - (uintptr_t)memory % PAGE_BYTES;
    (void)madvise(memory, bytes, MADV_HUGEPAGE); /* best effort: else only slower */
    return memory;
}

/* Makes the keys, a signature of each, and both tables of each. */
static void prepare(unsigned count)
{
    static const uint32_t positions[] = { ED25519_TABLE_POSITIONS, ED25519_TABLE_POSITIONS_SMALL };
    uint8_t *arenas[CC_COUNT(positions)];
    for (unsigned kind = 0; kind < CC_COUNT(positions); kind++)
        arenas[kind] = take(count * ed25519_table_bytes(positions[kind]));
    signatures = take(count * sizeof signatures[0]);
    for (unsigned i = 0; i < count; i++) {
        struct signature *signature = &signatures[i];
        struct signer_ed25519 signer;
        uint8_t seed[SIGNER_SEED_BYTES] = { (uint8_t)i, (uint8_t)(i >> 8) };
        signer_ed25519(&signer, seed);
        memcpy(signature->key, signer.key, sizeof signature->key);
        memcpy(signature->message, &i, sizeof i);
        signer_ed25519_sign(&signer, signature->message, MESSAGE_BYTES, signature->bytes);
        for (unsigned kind = 0; kind < CC_COUNT(positions); kind++) {
            void *entries = arenas[kind] + i * ed25519_table_bytes(positions[kind]);
            if (ed25519_table_build(entries, positions[kind], signer.key) != 0)
                fail("a key has no table");
            signature->tables[kind] =
                (struct ed25519_table){ .multiples = entries, .positions = positions[kind] };
            memcpy(signature->tables[kind].key, signer.key, sizeof signer.key);
        }
    }
}

/* Measures the CPU time of one signature. */
static double measure(enum ed25519_path path, enum table_kind table, unsigned at_once,
                      unsigned total, unsigned keys)
{
    struct ed25519_job jobs[SIGNATURES];
    unsigned first = (unsigned)random_below(keys);
    for (unsigned i = 0; i < total; i++) {
        const struct signature *signature =
            &signatures[keys > FEW_KEYS ? random_below(keys) : (first + i) % keys];
        jobs[i] = (struct ed25519_job){ signature->key, signature->bytes, signature->message,
                                        MESSAGE_BYTES,
                                        table == TABLE_NONE ? NULL : &signature->tables[table] };
    }
    uint64_t all = at_once == 64 ? UINT64_MAX : (UINT64_C(1) << at_once) - 1;
    double start = cpu_us();
    for (unsigned i = 0; i + at_once <= total; i += at_once)
        if (ed25519_verify_by(path, jobs + i, at_once) != all)
            fail("a good signature is refused");
    return (cpu_us() - start) / (total / at_once * at_once);
}

/* Measures the CPU time of one signature under a master key. */
static double measure_master(bool (*verify)(void))
{
    double start = cpu_us();
    for (unsigned i = 0; i < MASTER_SIGNATURES; i++)
        if (!verify())
            fail("a good signature is refused");
    return (cpu_us() - start) / MASTER_SIGNATURES;
}

static void add(enum ed25519_path path, enum table_kind table, unsigned at_once, bool many)
{
    if (case_count == CASES_MAX)
        fail("too many cases");
    cases[case_count++] = (struct test_case){ .path_name = ed25519_path_name(path),
                                              .table_name = table_names[table],
                                              .path = path,
                                              .table = table,
                                              .at_once = at_once,
                                              .many = many };
}

static bool verify_wallet(void)
{
    return secp256k1_verify(wallet.key, wallet.digest, wallet.bytes);
}

static bool verify_passkey(void)
{
    return p256_verify(NULL, passkey.key, passkey.digest, passkey.bytes);
}

static bool verify_passkey_cached(void)
{
    return p256_verify(&p256_keys, passkey.key, passkey.digest, passkey.bytes);
}

static void add_master(const char *curve, const char *table, bool (*verify)(void))
{
    add(ED25519_LIBRARY, TABLE_NONE, 1, false);
    cases[case_count - 1].path_name = curve;
    cases[case_count - 1].table_name = table;
    cases[case_count - 1].verify_master = verify;
}

static void read_hex(uint8_t *bytes, size_t count, const char *text)
{
    if (!hex_decode(bytes, count, text, 2 * count))
        fail("a constant is no hex");
}

/* The wallet signs; no tool signs with P-256: its signature is that of RFC 6979, A.2.5. */
static void add_masters(void)
{
    static const uint8_t secret[SIGNER_SEED_BYTES] = { 1 };
    if (!signer_secp256k1_key(secret, wallet.key) ||
        !signer_secp256k1_sign(secret, wallet.digest, wallet.bytes))
        fail("secp256k1 does not sign");
    read_hex(passkey.key, sizeof passkey.key,
             "0360fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb6");
    read_hex(passkey.digest, sizeof passkey.digest,
             "af2bdbe1aa9b6ec1e2ade1d694f41fc71a831d0268e9891562113d8a62add1bf");
    read_hex(passkey.bytes, sizeof passkey.bytes,
             "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
             "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8");
    add_master("secp256k1", "none", verify_wallet);
    add_master("p256", "none", verify_passkey);
    add_master("p256", "cached", verify_passkey_cached);
}

static void add_cases(enum ed25519_path path)
{
    static const unsigned sizes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 64 };
    for (unsigned i = 0; i < CC_COUNT(sizes); i++)
        if (path == ED25519_LANES || sizes[i] == 1 || sizes[i] >= 8)
            for (unsigned table = 0; table < TABLE_KINDS; table++)
                add(path, (enum table_kind)table, sizes[i], false);
    for (unsigned table = 0; table < TABLE_NONE; table++) {
        add(path, (enum table_kind)table, 8, true);
        add(path, (enum table_kind)table, 64, true);
    }
}

static void run(const struct settings *settings)
{
    for (unsigned round = 0; round < settings->rounds; round++) {
        for (unsigned i = 0; i < case_count; i++) {
            struct test_case *c = &cases[i];
            unsigned keys = c->many ? settings->keys : FEW_KEYS;
            double library = measure(ED25519_LIBRARY, TABLE_NONE, 1, LIBRARY_SIGNATURES, FEW_KEYS);
            c->us[round] = c->verify_master != NULL
                               ? measure_master(c->verify_master)
                               : measure(c->path, c->table, c->at_once, SIGNATURES, keys);
            c->ratio[round] = library / c->us[round];
        }
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void print(const struct settings *settings)
{
    if (settings->json)
        printf("{\"path_of_use\":\"%s\",\"rounds\":%u,\"cases\":[",
               ed25519_path_name(ed25519_path_in_use()), settings->rounds);
    else
        printf("%-9s %-6s %6s %6s %9s %9s %9s\n", "path", "table", "a call", "keys", "min us",
               "median us", "x library");
    for (unsigned i = 0; i < case_count; i++) {
        struct test_case *c = &cases[i];
        unsigned keys = c->many ? settings->keys : FEW_KEYS;
        if (c->verify_master != NULL)
            keys = 1;
        qsort(c->us, settings->rounds, sizeof c->us[0], compare);
        qsort(c->ratio, settings->rounds, sizeof c->ratio[0], compare);
        double median = c->us[settings->rounds / 2], ratio = c->ratio[settings->rounds / 2];
        if (settings->json)
            printf("%s{\"path\":\"%s\",\"table\":\"%s\",\"at_once\":%u,\"keys\":%u,"
                   "\"min_us\":%.3f,\"median_us\":%.3f,\"times_library\":%.2f}",
                   i == 0 ? "" : ",", c->path_name, c->table_name, c->at_once, keys, c->us[0],
                   median, ratio);
        else
            printf("%-9s %-6s %6u %6u %9.3f %9.3f %9.2f\n", c->path_name, c->table_name, c->at_once,
                   keys, c->us[0], median, ratio);
    }
    printf(settings->json ? "]}\n" : "");
}

static unsigned number_of(const char *option, const char *text, unsigned least, unsigned most)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (*text >= '0' && *text <= '9' && *end == '\0' && value >= least && value <= most)
        return (unsigned)value;
    fprintf(stderr, "perf-verify: --%s '%.60s' is no whole number of %u to %u\n", option, text,
            least, most);
    exit(2);
}

static void choose_path(struct settings *settings, const char *name)
{
    bool is_known = false;

    for (unsigned path = 0; path < ED25519_PATHS; path++) {
        settings->paths[path] = strcmp(ed25519_path_name((enum ed25519_path)path), name) == 0;
        is_known = is_known || settings->paths[path];
    }
    if (is_known)
        return;
    fprintf(stderr, "perf-verify: --path '%.60s' is none of", name);
    for (unsigned path = 0; path < ED25519_PATHS; path++)
        fprintf(stderr, " %s", ed25519_path_name((enum ed25519_path)path));
    fprintf(stderr, "\n");
    exit(2);
}

static struct settings read_settings(int argc, char **argv)
{
    static const struct option options[] = {
        { "rounds", required_argument, NULL, 'r' }, { "keys", required_argument, NULL, 'k' },
        { "path", required_argument, NULL, 'p' },   { "json", no_argument, NULL, 'j' },
        { "version", no_argument, NULL, 'v' },      { NULL, 0, NULL, 0 },
    };
    struct settings settings = { .rounds = 31, .keys = 4096, .paths = { true, true, true } };
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) >= 0;) {
        if (c == 'r')
            settings.rounds = number_of("rounds", optarg, 1, ROUNDS_MAX);
        else if (c == 'k')
            settings.keys = number_of("keys", optarg, FEW_KEYS, KEYS_MAX);
        else if (c == 'j')
            settings.json = true;
        else if (c == 'p')
            choose_path(&settings, optarg);
        else if (c == 'v')
            exit(printf("perf-verify %s\n", version_text) < 0);
        else
            exit(2); /* getopt_long said what is wrong */
    }
    if (optind < argc) {
        fprintf(stderr, "perf-verify: '%.60s' is one word too many\n", argv[optind]);
        exit(2);
    }
    return settings;
}

int main(int argc, char **argv)
{
    struct settings settings = read_settings(argc, argv);
    if (ed25519_init(ED25519_LANES) != 0 || secp256k1_init() != 0 || p256_init() != 0 ||
        signer_init() != 0)
        fail("no path verifies");
    prepare(settings.keys);
    add(ED25519_LIBRARY, TABLE_NONE, 1, false);
    for (unsigned path = 0; path < ED25519_LIBRARY; path++) {
        const char *refusal = ed25519_refusal((enum ed25519_path)path);
        if (settings.paths[path] && refusal == NULL)
            add_cases((enum ed25519_path)path);
        else if (refusal != NULL)
            fprintf(stderr, "%s: %s\n", ed25519_path_name((enum ed25519_path)path), refusal);
    }
    add_masters();
    run(&settings);
    print(&settings);
    return 0;
}
