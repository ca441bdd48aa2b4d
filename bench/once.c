/* once.c - bench/shim.h without a clock: runs every benchmark of a program a single time, so that
 * what runs is the same each time. tools/dist makes its counts by it. */
#include "shim.h"

struct bench_run {
    int64_t argument;
    bool begun;
};

void bench_add(const char *name, void (*body)(struct bench_run *run))
{
    bench_add_argument(name, body, 0);
}

void bench_add_argument(const char *name, void (*body)(struct bench_run *run), int64_t argument)
{
    struct bench_run run = { .argument = argument };

    (void)name;
    body(&run);
}

bool bench_next(struct bench_run *run)
{
    bool first = !run->begun;

    run->begun = true;
    return first;
}

int64_t bench_argument(const struct bench_run *run)
{
    return run->argument;
}

void bench_pause(struct bench_run *run)
{
    (void)run;
}

void bench_resume(struct bench_run *run)
{
    (void)run;
}

void bench_items(struct bench_run *run, int64_t per_iteration)
{
    (void)run;
    (void)per_iteration;
}

void bench_bytes(struct bench_run *run, int64_t per_iteration)
{
    (void)run;
    (void)per_iteration;
}

void bench_counter(struct bench_run *run, const char *name, double value)
{
    (void)run;
    (void)name;
    (void)value;
}

void bench_fail(struct bench_run *run, const char *why)
{
    (void)run;
    (void)why;
    __builtin_trap();
}

int main(void)
{
    bench_register();
    return 0;
}
