/* 1,000 seeds of the simulator (sim.h); PERPD_SIM_SEEDS sets another number. PERPD_SIM_FINDERS, the
 * seeds that planted bugs are found by (planted/seeds.txt), come first, and the others begin where
 * PERPD_SAMPLE_SEED says: so tools/test takes its sample.
 *
 *   heavy_node_simulator [FIRST [COUNT [STEPS]]] [--without=EVENT,...] [--stop] [--shrink]
 *
 * A failing seed is printed with the last things that happened and replays exactly when it is run
 * alone. --stop ends at the first; --shrink looks for the shortest run with the fewest events that
 * still fails, and prints its command line. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "sim.h"

enum { SEEDS = 1000, STEPS = 4000, BISECTIONS = 12, FINDERS_MAX = 64 };
enum { PLANTED_SEEDS = 200 }; /* a planted bug is found within them; a commit's are some of them */

static const char *const event_names[] = {
#define X(name) #name,
    SIM_EVENT_LIST(X)
#undef X
};

struct plan {
    uint64_t first, count, steps;
    uint64_t finders[FINDERS_MAX], finder_count; /* seeds that are run before the others */
    uint32_t disabled;
    bool stop, shrink;
};

static uint64_t running; /* for the handler: which seed an invariant ended */

static void on_abort(int number)
{
    (void)number;
    printf("seed %lu: an invariant ended the process\n", running);
    fflush(stdout);
    _Exit(1);
}

static uint32_t event_bit(const char *name, size_t count)
{
    for (unsigned i = 0; i < SIM_EVENT_COUNT; i++)
        if (strlen(event_names[i]) == count && memcmp(event_names[i], name, count) == 0)
            return 1u << i;
    fprintf(stderr, "no event %.*s\n", (int)count, name);
    exit(2);
}

static uint32_t read_events(const char *list)
{
    uint32_t bits = 0;
    while (*list != '\0') {
        size_t count = strcspn(list, ",");
        bits |= event_bit(list, count);
        list += count + (list[count] == ',');
    }
    return bits;
}

/* The part of a run that tools/test asks for in the environment. */
static void read_sample(struct plan *plan)
{
    const char *finders = getenv("PERPD_SIM_FINDERS");
    const char *commit = getenv("PERPD_SAMPLE_SEED");
    char *end = NULL;

    if (finders == NULL)
        return;
    for (const char *at = finders; plan->finder_count < FINDERS_MAX; at = end) {
        uint64_t seed = strtoull(at, &end, 10);
        if (end == at)
            break;
        plan->finders[plan->finder_count++] = seed;
    }
    if (commit != NULL && plan->count < PLANTED_SEEDS)
        plan->first = 1 + strtoull(commit, NULL, 16) % (PLANTED_SEEDS - plan->count + 1);
}

static void read_plan(struct plan *plan, int argc, char **argv)
{
    const char *seeds = getenv("PERPD_SIM_SEEDS");
    uint64_t numbers[3] = { 1, seeds != NULL ? strtoull(seeds, NULL, 10) : SEEDS, STEPS };
    unsigned given = 0;

    *plan = (struct plan){ 0 };
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--without=", 10) == 0)
            plan->disabled = read_events(argv[i] + 10);
        else if (strcmp(argv[i], "--stop") == 0)
            plan->stop = true;
        else if (strcmp(argv[i], "--shrink") == 0)
            plan->shrink = true;
        else if (given < CC_COUNT(numbers))
            numbers[given++] = strtoull(argv[i], NULL, 10);
    }
    plan->first = numbers[0];
    plan->count = numbers[1];
    plan->steps = numbers[2];
    if (given == 0)
        read_sample(plan);
}

static void print_command(const struct plan *plan, uint64_t seed)
{
    printf("heavy_node_simulator %lu 1 %lu", seed, plan->steps);
    const char *before = " --without=";
    for (unsigned i = 0; i < SIM_EVENT_COUNT; i++)
        if ((plan->disabled & 1u << i) != 0) {
            printf("%s%s", before, event_names[i]);
            before = ",";
        }
    printf("\n");
}

/* ---- shrinking ------------------------------------------------------------------------------- */

/* Does it fail, and at which step; in a process of its own, for an invariant may end it. */
static bool fails(uint64_t seed, uint64_t steps, uint32_t disabled, uint64_t *at)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct sim_outcome outcome;
        signal(SIGABRT, SIG_DFL);
        CHECK(freopen("/dev/null", "w", stderr) != NULL);
        sim_run(seed, steps, disabled, &outcome);
        if (write(ends[1], &outcome.steps, sizeof outcome.steps) < 0)
            _Exit(2);
        _Exit(outcome.failed);
    }
    int status = 0;
    close(ends[1]);
    *at = steps;
    bool told = read(ends[0], at, sizeof *at) == (ssize_t)sizeof *at;
    close(ends[0]);
    CHECK(waitpid(child, &status, 0) == child);
    return !told || !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/* Leaves out every event that the failure does not need, then steps from the end. */
static void shrink(struct plan *plan, uint64_t seed)
{
    uint64_t at;
    bool smaller = true;

    if (!fails(seed, plan->steps, plan->disabled, &at)) {
        printf("seed %lu does not fail\n", seed);
        return;
    }
    plan->steps = at;
    while (smaller) {
        smaller = false;
        for (unsigned i = 0; i < SIM_EVENT_COUNT; i++) {
            uint32_t fewer = plan->disabled | 1u << i;
            if (fewer == plan->disabled || !fails(seed, plan->steps, fewer, &at))
                continue;
            plan->disabled = fewer;
            plan->steps = at;
            smaller = true;
        }
    }
    uint64_t low = 0;
    for (int i = 0; i < BISECTIONS && low + 1 < plan->steps; i++) {
        uint64_t middle = (low + plan->steps) / 2;
        if (fails(seed, middle, plan->disabled, &at))
            plan->steps = at < middle ? at : middle;
        else
            low = middle;
    }
    printf("shrunk to: ");
    print_command(plan, seed);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void print_failure(const struct plan *plan, uint64_t seed, const struct sim_outcome *outcome)
{
    const struct sim_trace *trace = &outcome->trace;
    uint64_t first = trace->count > SIM_TRACE_LINES ? trace->count - SIM_TRACE_LINES : 0;

    printf("seed %lu step %lu: %s\n", seed, outcome->steps, outcome->failure);
    for (uint64_t i = first; i < trace->count; i++)
        printf("    %s\n", trace->lines[i % SIM_TRACE_LINES]);
    printf("  again: ");
    print_command(plan, seed);
    fflush(stdout);
}

static void add(struct sim_outcome *sum, const struct sim_outcome *outcome)
{
#define X(name, least) sum->name += outcome->name;
    SIM_COUNTER_LIST(X)
#undef X
}

/* The runs are of use only if the hard cases are common. */
static uint32_t print_counters(const struct plan *plan, const struct sim_outcome *sum)
{
    bool usual = plan->count >= 100 && plan->steps >= STEPS && plan->disabled == 0 && !plan->stop;
    uint32_t rare = 0;
#define X(name, least)                                                          \
    printf("%-20s %12lu\n", #name, sum->name);                                  \
    if (usual && sum->name * UINT64_C(1000) < UINT64_C(least) * plan->count) {  \
        printf("  too rare: 1,000 seeds have at least %lu\n", UINT64_C(least)); \
        rare++;                                                                 \
    }
    SIM_COUNTER_LIST(X)
#undef X
    return rare;
}

int main(int argc, char **argv)
{
    struct sim_outcome outcome, sum = { 0 };
    uint64_t failed = 0, seeds = 0;
    uint64_t all;
    struct plan plan;

    read_plan(&plan, argc, argv);
    signal(SIGABRT, on_abort);
    if (plan.shrink) {
        shrink(&plan, plan.first);
        return 0;
    }
    all = plan.finder_count + plan.count;
    for (; seeds < all && !(plan.stop && failed != 0); seeds++) {
        bool finder = seeds < plan.finder_count;
        running = finder ? plan.finders[seeds] : plan.first + seeds - plan.finder_count;
        sim_run(running, plan.steps, plan.disabled, &outcome);
        if (outcome.failed) {
            print_failure(&plan, running, &outcome);
            failed++;
        }
        add(&sum, &outcome);
    }
    uint32_t rare = print_counters(&plan, &sum);
    printf("seeds from %lu, %lu finders before\n", plan.first, plan.finder_count);
    printf("seeds %lu failed %lu\n", seeds, failed);
    CHECK(failed == 0);
    CHECK(rare == 0);
    return 0;
}
