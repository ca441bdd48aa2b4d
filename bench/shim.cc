// shim.cc - the only C++ of the tree: Google Benchmark behind the C functions of shim.h.
#include "shim.h"

#include <benchmark/benchmark.h>

struct bench_run {
    benchmark::State &state;
    int64_t argument;
};

void bench_add_argument(const char *name, void (*body)(bench_run *), int64_t argument)
{
    benchmark::RegisterBenchmark(name, [body](benchmark::State &state) {
        bench_run run{ state, state.range(0) };
        body(&run);
    })->Arg(argument);
}

void bench_add(const char *name, void (*body)(bench_run *))
{
    benchmark::RegisterBenchmark(name, [body](benchmark::State &state) {
        bench_run run{ state, 0 };
        body(&run);
    });
}

bool bench_next(bench_run *run)
{
    return run->state.KeepRunning();
}

int64_t bench_argument(const bench_run *run)
{
    return run->argument;
}

void bench_pause(bench_run *run)
{
    run->state.PauseTiming();
}

void bench_resume(bench_run *run)
{
    run->state.ResumeTiming();
}

void bench_items(bench_run *run, int64_t per_iteration)
{
    run->state.SetItemsProcessed(static_cast<int64_t>(run->state.iterations()) * per_iteration);
}

void bench_bytes(bench_run *run, int64_t per_iteration)
{
    run->state.SetBytesProcessed(static_cast<int64_t>(run->state.iterations()) * per_iteration);
}

void bench_counter(bench_run *run, const char *name, double value)
{
    run->state.counters[name] = value;
}

void bench_fail(bench_run *run, const char *why)
{
    run->state.SkipWithError(why);
}

int main(int argc, char **argv)
{
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 2;
    bench_register();
    return benchmark::RunSpecifiedBenchmarks() > 0 ? 0 : 1;
}
