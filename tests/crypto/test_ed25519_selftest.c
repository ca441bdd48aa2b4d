/* ed25519: the test at start finds a fault in each path and falls to the next, a path is dropped
 * while running, and the path can be forced (signatures.md, Self-test).
 *
 * The program is linked with --wrap for what the paths call: each function gives its own verdict,
 * spoilt as `fault` says. */
#include <errno.h>
#include <sodium.h>

#include "check.h"
#include "crypto/ed25519.h"
#include "crypto/ed25519_lanes.h"
#include "crypto/signer.h"

enum { VECTORS = 50 }; /* that the self-test verifies in the first call of the comb */

enum place { NOWHERE, CACHED, SPLIT, UNCACHED, COMB, LIBRARY };

enum way { REFUSES, ACCEPTS, REVERSES, WAYS };

/* What is spoilt: the verdict of one place of a call. */
static struct fault {
    enum place place;
    unsigned lane;  /* of the job in the call */
    unsigned count; /* only in calls of so many jobs; 0: any */
    enum way way;
} fault;

static bool no_library; /* sodium_init fails */
static bool no_lanes;   /* the machine lacks them */

bool __real_ed25519_lanes_is_supported(void);
uint64_t __real_ed25519_lanes_cached(const struct ed25519_job *jobs, unsigned count);
uint64_t __real_ed25519_lanes_split(const struct ed25519_job *jobs, unsigned count);
uint64_t __real_ed25519_lanes_uncached(const struct ed25519_job *jobs, unsigned count);
uint64_t __real_ed25519_comb_verify(const struct ed25519_job *jobs, unsigned count);
int __real_crypto_sign_verify_detached(const unsigned char *sig, const unsigned char *m,
                                       unsigned long long bytes, const unsigned char *key);
int __real_sodium_init(void);

bool __wrap_ed25519_lanes_is_supported(void);
uint64_t __wrap_ed25519_lanes_cached(const struct ed25519_job *jobs, unsigned count);
uint64_t __wrap_ed25519_lanes_split(const struct ed25519_job *jobs, unsigned count);
uint64_t __wrap_ed25519_lanes_uncached(const struct ed25519_job *jobs, unsigned count);
uint64_t __wrap_ed25519_comb_verify(const struct ed25519_job *jobs, unsigned count);
int __wrap_crypto_sign_verify_detached(const unsigned char *sig, const unsigned char *m,
                                       unsigned long long bytes, const unsigned char *key);
int __wrap_sodium_init(void);

static uint64_t spoil(enum place place, uint64_t good, unsigned count)
{
    if (fault.place != place || fault.lane >= count || (fault.count != 0 && fault.count != count))
        return good;
    uint64_t bit = UINT64_C(1) << fault.lane;
    return fault.way == REFUSES ? good & ~bit : fault.way == ACCEPTS ? good | bit : good ^ bit;
}

bool __wrap_ed25519_lanes_is_supported(void)
{
    return !no_lanes && __real_ed25519_lanes_is_supported();
}

uint64_t __wrap_ed25519_lanes_cached(const struct ed25519_job *jobs, unsigned count)
{
    return spoil(CACHED, __real_ed25519_lanes_cached(jobs, count), count);
}

uint64_t __wrap_ed25519_lanes_split(const struct ed25519_job *jobs, unsigned count)
{
    return spoil(SPLIT, __real_ed25519_lanes_split(jobs, count), count);
}

uint64_t __wrap_ed25519_lanes_uncached(const struct ed25519_job *jobs, unsigned count)
{
    return spoil(UNCACHED, __real_ed25519_lanes_uncached(jobs, count), count);
}

uint64_t __wrap_ed25519_comb_verify(const struct ed25519_job *jobs, unsigned count)
{
    return spoil(COMB, __real_ed25519_comb_verify(jobs, count), count);
}

int __wrap_crypto_sign_verify_detached(const unsigned char *sig, const unsigned char *m,
                                       unsigned long long bytes, const unsigned char *key)
{
    uint64_t good = __real_crypto_sign_verify_detached(sig, m, bytes, key) == 0;
    return spoil(LIBRARY, good, 1) != 0 ? 0 : -1;
}

int __wrap_sodium_init(void)
{
    return no_library ? -1 : __real_sodium_init();
}

static bool has_lanes;

/* Every path decides `want` by the faults that stand; what is chosen is the first that is sound. */
static void expect(struct fault planted, enum ed25519_path first, enum ed25519_path want)
{
    fault = planted;
    CHECK(ed25519_init(first) == 0);
    CHECK(ed25519_path_in_use() == want);
    CHECK(ed25519_refusal(want) == NULL);
    for (unsigned path = first; path < (unsigned)want; path++)
        CHECK(ed25519_refusal((enum ed25519_path)path) != NULL);
}

static void expect_lane_fault(enum place place, unsigned lane, unsigned count)
{
    for (unsigned way = 0; way < WAYS; way++) {
        expect((struct fault){ place, lane, count, (enum way)way }, ED25519_LANES, ED25519_COMB);
        CHECK(strcmp(ed25519_refusal(ED25519_LANES), "its self-test failed") == 0);
    }
}

static void test_faulty_lanes(void)
{
    if (!has_lanes)
        return;
    for (unsigned lane = 0; lane < 8; lane++) {
        expect_lane_fault(CACHED, lane, 8);
        expect_lane_fault(UNCACHED, lane, 8);
    }
    for (unsigned count = 1; count <= 4; count++)
        for (unsigned lane = 0; lane < count; lane++)
            expect_lane_fault(SPLIT, lane, count);
}

static void test_faulty_comb(void)
{
    for (unsigned index = 0; index < VECTORS; index += 7) {
        expect((struct fault){ COMB, index, VECTORS, REVERSES }, ED25519_COMB, ED25519_LIBRARY);
        CHECK(strcmp(ed25519_refusal(ED25519_COMB), "its self-test failed") == 0);
    }
}

/* A library that refuses what is good, or accepts anything, does no harm while a path of ours is
 * sound; alone it ends the start. */
static void test_faulty_library(void)
{
    for (unsigned way = 0; way < WAYS; way++) {
        expect((struct fault){ LIBRARY, 0, 0, (enum way)way }, ED25519_COMB, ED25519_COMB);
        CHECK(strcmp(ed25519_refusal(ED25519_LIBRARY), "its self-test failed") == 0);
        CHECK(ed25519_init(ED25519_LIBRARY) == -EIO);
    }
    fault.place = NOWHERE;
    no_library = true;
    CHECK(ed25519_init(ED25519_LANES) == -EIO);
    no_library = false;
}

static void test_forced(void)
{
    expect((struct fault){ .place = NOWHERE }, ED25519_COMB, ED25519_COMB);
    CHECK(ed25519_refusal(ED25519_LANES) != NULL);
    expect(fault, ED25519_LIBRARY, ED25519_LIBRARY);
    CHECK(strcmp(ed25519_refusal(ED25519_COMB), "it comes before the one asked for") == 0);
    no_lanes = true;
    expect(fault, ED25519_LANES, ED25519_COMB);
    CHECK(strcmp(ed25519_refusal(ED25519_LANES), "this machine lacks AVX-512 IFMA") == 0);
    no_lanes = false;
    expect(fault, ED25519_LANES, has_lanes ? ED25519_LANES : ED25519_COMB);
}

/* A dropped path is gone until the next init; the last one stays; dropping one that is not in use
 * changes nothing but that. */
static void test_drop(void)
{
    expect((struct fault){ .place = NOWHERE }, ED25519_LANES,
           has_lanes ? ED25519_LANES : ED25519_COMB);
    enum ed25519_path used = ed25519_path_in_use();
    CHECK(ed25519_drop(ED25519_LIBRARY) == used);
    CHECK(ed25519_drop(ED25519_LANES) == ED25519_COMB);
    CHECK(ed25519_path_in_use() == ED25519_COMB);
    CHECK(strcmp(ed25519_refusal(ED25519_LIBRARY), "its verdict was wrong") == 0);
    CHECK(ed25519_drop(ED25519_COMB) == ED25519_COMB && ed25519_refusal(ED25519_COMB) == NULL);
    expect(fault, ED25519_COMB, ED25519_COMB);
    CHECK(ed25519_drop(ED25519_COMB) == ED25519_LIBRARY);
}

/* What is chosen verifies: a good signature, and the same spoilt. */
static void test_each_path_verifies(void)
{
    struct signer_ed25519 signer;
    uint8_t signature[64];
    signer_ed25519(&signer, (const uint8_t[SIGNER_SEED_BYTES]){ 5 });
    signer_ed25519_sign(&signer, "text", 4, signature);
    for (unsigned path = has_lanes ? 0 : 1; path < ED25519_PATHS; path++) {
        const struct ed25519_job job = { signer.key, signature, (const uint8_t *)"text", 4, NULL };
        const struct ed25519_job other = { signer.key, signature, (const uint8_t *)"next", 4,
                                           NULL };
        expect((struct fault){ .place = NOWHERE }, (enum ed25519_path)path,
               (enum ed25519_path)path);
        CHECK(ed25519_verify(&job, 1) == 1 && ed25519_verify(&other, 1) == 0);
    }
}

int main(void)
{
    CHECK(signer_init() == 0);
    has_lanes = __real_ed25519_lanes_is_supported();
    test_forced();
    test_faulty_lanes();
    test_faulty_comb();
    test_faulty_library();
    test_drop();
    test_each_path_verifies();
    return 0;
}
