/* rig.h - memory, seeded random numbers and expected aborts for tests of the engine's tables. */
#ifndef TESTS_ENGINE_RIG_H
#define TESTS_ENGINE_RIG_H

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "check.h"

/* splitmix64: the same numbers for the same seed everywhere. */
static inline uint64_t rig_random(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline uint32_t rig_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)((rig_random(state) >> 32) * bound >> 32);
}

/* Zeroed memory as the engine's caller gives it: aligned, and for ladders not touched. */
static inline void *rig_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(memory != MAP_FAILED);
    return memory;
}

static inline void rig_free(void *memory, size_t bytes)
{
    CHECK(munmap(memory, bytes) == 0);
}

/* Whether `body(context)` ends in INVARIANT's abort; it runs in a child, silently. */
static inline bool rig_aborts(void (*body)(void *), void *context)
{
    int status;

    fflush(NULL);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        fclose(stderr);
        body(context);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

#endif
