#include "base/cpu.h"

enum cpu_level cpu_level(void)
{
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi"))
        return CPU_AVX512;
    return __builtin_cpu_supports("avx2") ? CPU_AVX2 : CPU_SCALAR;
}

bool cpu_has_lanes(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512ifma") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vbmi2");
}

const char *cpu_level_name(enum cpu_level level)
{
    static const char *const names[CPU_LEVELS] = { "scalar", "AVX2", "AVX-512" };
    INVARIANT((unsigned)level < CPU_LEVELS);
    return names[level];
}
