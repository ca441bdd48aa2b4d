#include "crypto/ed25519_lanes.h"

#include "base/cpu.h"
#include "crypto/ed25519_point.h"
#include "crypto/ed25519_scalar.h"
#include "crypto/lane_equation.h"
#include "crypto/lane_sha512.h"
#include "crypto/lane_word.h"

#ifdef LANE_WORD_AVAILABLE

static_assert((int)ED25519_LANES_COUNT == (int)LANES, "the width of the machine");

/* Only a call: it also runs on machines without the instructions of this file. */
bool ed25519_lanes_is_supported(void)
{
    return cpu_has_lanes();
}

/* The jobs that pass the checks before the arithmetic, as equations still without h. */
struct candidates {
    struct lane_equation equations[LANES];
    struct lane_sha512_input inputs[LANES];
    unsigned jobs[LANES]; /* equation i belongs to jobs[i] */
    unsigned count;
};

static void admit(struct candidates *candidates, const struct ed25519_job *job, unsigned index)
{
    if (!ed25519_scalar_is_canonical(job->signature + 32) ||
        ed25519_point_is_small_order(job->signature))
        return;
    struct lane_equation *equation = &candidates->equations[candidates->count];
    equation->table = job->table;
    equation->key = job->key;
    equation->r = job->signature;
    memcpy(equation->s, job->signature + 32, sizeof equation->s);
    candidates->inputs[candidates->count] =
        (struct lane_sha512_input){ job->signature, job->key, job->message, job->message_bytes };
    candidates->jobs[candidates->count] = index;
    candidates->count++;
}

static void challenge(struct candidates *candidates)
{
    uint64_t hashes[LANES][8];
    lane_sha512(hashes, candidates->inputs, candidates->count);
    for (unsigned i = 0; i < candidates->count; i++)
        ed25519_scalar_reduce(candidates->equations[i].h, hashes[i]);
}

typedef uint64_t solve_function(const struct lane_equation *equations, unsigned count);

/* Verifies the jobs of `candidates` by one kind of call. Returns the bits of the jobs. */
static uint64_t solve(struct candidates *candidates, solve_function *equation)
{
    if (candidates->count == 0)
        return 0;
    challenge(candidates);
    uint64_t good = equation(candidates->equations, candidates->count);
    uint64_t jobs = 0;
    for (unsigned i = 0; i < candidates->count; i++)
        jobs |= (good >> i & 1) << candidates->jobs[i];
    return jobs;
}

/* Verifies jobs whose keys need no check, because they have tables. */
static uint64_t solve_all(const struct ed25519_job *jobs, unsigned count, solve_function *equation)
{
    struct candidates candidates;
    candidates.count = 0;
    for (unsigned i = 0; i < count; i++)
        admit(&candidates, &jobs[i], i);
    return solve(&candidates, equation);
}

uint64_t ed25519_lanes_cached(const struct ed25519_job *jobs, unsigned count)
{
    INVARIANT(count >= 1 && count <= LANES);
    return solve_all(jobs, count, lane_equation_cached);
}

uint64_t ed25519_lanes_split(const struct ed25519_job *jobs, unsigned count)
{
    INVARIANT(count >= 1 && count <= ED25519_LANES_SPLIT_MAX);
    return solve_all(jobs, count, lane_equation_split);
}

uint64_t ed25519_lanes_uncached(const struct ed25519_job *jobs, unsigned count)
{
    INVARIANT(count >= 1 && count <= LANES);
    struct candidates candidates;
    candidates.count = 0;
    for (unsigned i = 0; i < count; i++)
        if (ed25519_point_is_canonical(jobs[i].key) && !ed25519_point_is_small_order(jobs[i].key))
            admit(&candidates, &jobs[i], i);
    return solve(&candidates, lane_equation_uncached);
}

#else

/* This compiler has not got the instructions: no other function here is ever called. */
bool ed25519_lanes_is_supported(void)
{
    return false;
}

uint64_t ed25519_lanes_cached(const struct ed25519_job *jobs, unsigned count)
{
    INVARIANT(jobs == NULL && count == 0);
    return 0;
}

uint64_t ed25519_lanes_split(const struct ed25519_job *jobs, unsigned count)
{
    INVARIANT(jobs == NULL && count == 0);
    return 0;
}

uint64_t ed25519_lanes_uncached(const struct ed25519_job *jobs, unsigned count)
{
    INVARIANT(jobs == NULL && count == 0);
    return 0;
}

#endif
