#include "crypto/ed25519.h"

#include <errno.h>
#include <sodium.h>

#include "base/published.h"
#include "crypto/ed25519_base.h"
#include "crypto/ed25519_comb.h"
#include "crypto/ed25519_lanes.h"
#include "crypto/ed25519_point.h"
#include "crypto/ed25519_selftest.h"

static_assert(ED25519_KEY_BYTES == crypto_sign_PUBLICKEYBYTES, "libsodium's key");
static_assert(ED25519_SIGNATURE_BYTES == crypto_sign_BYTES, "libsodium's signature");

enum refusal {
    REFUSAL_NONE,
    REFUSAL_UNASKED,
    REFUSAL_MISSING,
    REFUSAL_SELFTEST,
    REFUSAL_DROPPED,
    REFUSALS,
};

/* ed25519_init writes them before threads, afterwards only ed25519_drop. Relaxed is enough: no
 * other memory is read through them, and a call that still uses a dropped path is as good as one
 * before the drop. */
static struct published chosen;                  /* enum ed25519_path */
static struct published refusals[ED25519_PATHS]; /* enum refusal */
static struct published judges[ED25519_PATHS];   /* 1: its self-test passed, no verdict was wrong */

const char *ed25519_path_name(enum ed25519_path path)
{
    static const char *const names[ED25519_PATHS] = { "lanes", "comb", "library" };
    INVARIANT(path < ED25519_PATHS);
    return names[path];
}

enum ed25519_path ed25519_path_in_use(void)
{
    return (enum ed25519_path)published_get(&chosen);
}

const char *ed25519_refusal(enum ed25519_path path)
{
    static const char *const texts[REFUSALS] = { NULL, "it comes before the one asked for",
                                                 "this machine lacks AVX-512 IFMA",
                                                 "its self-test failed", "its verdict was wrong" };
    INVARIANT(path < ED25519_PATHS);
    return texts[published_get(&refusals[path])];
}

static enum refusal examine(enum ed25519_path path)
{
    if (path == ED25519_LANES && !ed25519_lanes_is_supported())
        return REFUSAL_MISSING;
    return ed25519_selftest(path) ? REFUSAL_NONE : REFUSAL_SELFTEST;
}

/* Returns the first path without a refusal, ED25519_PATHS if there is none. */
static unsigned best(void)
{
    unsigned path = 0;
    while (path < ED25519_PATHS && published_get(&refusals[path]) != REFUSAL_NONE)
        path++;
    return path;
}

int ed25519_init(enum ed25519_path first)
{
    INVARIANT(first < ED25519_PATHS);
    if (sodium_init() < 0)
        return -EIO;
    ed25519_base_init();
    for (unsigned path = 0; path < ED25519_PATHS; path++) {
        enum refusal found = examine((enum ed25519_path)path);
        published_set(&refusals[path], path < first ? REFUSAL_UNASKED : found);
        published_set(&judges[path], found == REFUSAL_NONE);
    }
    if (best() == ED25519_PATHS)
        return -EIO;
    published_set(&chosen, best());
    return 0;
}

enum ed25519_path ed25519_judge_of(enum ed25519_path path)
{
    INVARIANT(path < ED25519_PATHS);
    if (path != ED25519_LIBRARY && published_get(&judges[ED25519_LIBRARY]) != 0)
        return ED25519_LIBRARY;
    return path != ED25519_COMB && published_get(&judges[ED25519_COMB]) != 0 ? ED25519_COMB
                                                                             : ED25519_PATHS;
}

enum ed25519_path ed25519_drop(enum ed25519_path path)
{
    INVARIANT(path < ED25519_PATHS);
    uint64_t before = published_get(&refusals[path]);
    published_set(&refusals[path], REFUSAL_DROPPED);
    published_set(&judges[path], 0);
    for (unsigned next = best(); next < ED25519_PATHS && next != published_get(&chosen);
         next = best()) {
        if (examine((enum ed25519_path)next) == REFUSAL_NONE)
            break;
        published_set(&refusals[next], REFUSAL_SELFTEST);
        published_set(&judges[next], 0);
    }
    if (best() == ED25519_PATHS)
        published_set(&refusals[path], before);
    published_set(&chosen, best());
    return ed25519_path_in_use();
}

/* ---------------------------------------------------------------- the paths */

static uint64_t verify_by_library(const struct ed25519_job *jobs, unsigned count)
{
    uint64_t good = 0;
    for (unsigned i = 0; i < count; i++) {
        const struct ed25519_job *job = &jobs[i];
        if (crypto_sign_verify_detached(job->signature, job->message, job->message_bytes,
                                        job->key) == 0)
            good |= UINT64_C(1) << i;
    }
    return good;
}

/* Jobs that all have a table or all have none, collected for one call of the lanes. */
struct group {
    unsigned count;
    bool known;                           /* with a table */
    bool wide;                            /* every table has 32 positions */
    uint8_t indexes[ED25519_LANES_COUNT]; /* of the jobs, in the caller's array */
    struct ed25519_job jobs[ED25519_LANES_COUNT];
};

typedef uint64_t verify_function(const struct ed25519_job *jobs, unsigned count);

/* Verifies the group's jobs [from, from + count). Returns the bits of their indexes in the caller's
 * array. */
static uint64_t verify_part(const struct group *group, unsigned from, unsigned count,
                            verify_function *verify)
{
    uint64_t good = verify(group->jobs + from, count);
    uint64_t bits = 0;
    for (unsigned i = 0; i < count; i++)
        bits |= (good >> i & 1) << group->indexes[from + i];
    return bits;
}

/* Verifies the group by the cheapest calls for its number of jobs (perf/verify). A call costs
 * nearly the same however few lanes it uses. It is cheaper when each of a few signatures is spread
 * over several lanes, which needs tables of 32 positions. */
static uint64_t verify_group(const struct group *group)
{
    enum { SPLIT_TOTAL_MAX = 5, SMALL_TABLE_MIN = 2, UNKNOWN_MIN = 2 };
    unsigned count = group->count;
    if (count == 0)
        return 0;
    if (!group->known)
        return verify_part(group, 0, count,
                           count >= UNKNOWN_MIN ? ed25519_lanes_uncached : ed25519_comb_verify);
    if (!group->wide && count < SMALL_TABLE_MIN)
        return verify_part(group, 0, count, ed25519_comb_verify);
    if (!group->wide || count > SPLIT_TOTAL_MAX)
        return verify_part(group, 0, count, ed25519_lanes_cached);
    unsigned first = count < ED25519_LANES_SPLIT_MAX ? count : ED25519_LANES_SPLIT_MAX;
    uint64_t good = verify_part(group, 0, first, ed25519_lanes_split);
    if (first < count)
        good |= verify_part(group, first, count - first, ed25519_lanes_split);
    return good;
}

static void empty(struct group *group)
{
    group->count = 0;
    group->wide = true;
}

/* Collects known and unknown keys in two groups: one call verifies one kind. */
static uint64_t verify_by_lanes(const struct ed25519_job *jobs, unsigned count)
{
    struct group strangers, known;
    empty(&strangers);
    empty(&known);
    strangers.known = false;
    known.known = true;
    uint64_t good = 0;
    for (unsigned i = 0; i < count; i++) {
        bool serves = ed25519_table_serves(jobs[i].table, jobs[i].key);
        struct group *group = serves ? &known : &strangers;
        group->wide = group->wide && serves && jobs[i].table->positions == ED25519_TABLE_POSITIONS;
        group->indexes[group->count] = (uint8_t)i;
        group->jobs[group->count++] = jobs[i];
        if (group->count == ED25519_LANES_COUNT) {
            good |= verify_group(group);
            empty(group);
        }
    }
    return good | verify_group(&known) | verify_group(&strangers);
}

uint64_t ed25519_verify_by(enum ed25519_path path, const struct ed25519_job *jobs, unsigned count)
{
    INVARIANT(count <= ED25519_BATCH_MAX);
    switch (path) {
    case ED25519_LANES:
        return verify_by_lanes(jobs, count);
    case ED25519_COMB:
        return ed25519_comb_verify(jobs, count);
    case ED25519_LIBRARY:
        return verify_by_library(jobs, count);
    case ED25519_PATHS:
        break;
    }
    INVARIANT(path < ED25519_PATHS);
    return 0;
}

uint64_t ed25519_verify(const struct ed25519_job *jobs, unsigned count)
{
    return ed25519_verify_by(ed25519_path_in_use(), jobs, count);
}

bool ed25519_key_is_valid(const uint8_t key[ED25519_KEY_BYTES])
{
    return ed25519_point_is_canonical(key) && !ed25519_point_is_small_order(key);
}
