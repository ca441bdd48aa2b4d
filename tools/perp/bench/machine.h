/* machine.h - what a figure must say of the machine that it was measured on.
 *
 * Owner. Any thread; no state. */
#ifndef PERP_BENCH_MACHINE_H
#define PERP_BENCH_MACHINE_H

#include "base/compiler.h"

enum { MACHINE_TEXT_MAX = 128 };

struct machine {
    char processor[MACHINE_TEXT_MAX], kernel[MACHINE_TEXT_MAX]; /* "" where it is not known */
    uint32_t cores;
    double load_1min;                /* below 0: not known */
    uint64_t steal_ticks, all_ticks; /* of all CPUs since the boot; both 0: not known */
};

void machine_read(struct machine *machine);

/* The share of the CPUs' time from `before` to `after` that the host gave to others, 0..1; below 0:
 * not known. */
double machine_steal(const struct machine *before, const struct machine *after);

/* Calibration: processor time of an Ed25519 verification by libsodium in this process, the least of
 * several rounds, in ns. Two machines, or two hours of one, are compared by it. */
double machine_calibrate_ns(void);

/* CPU time of a process and of the kernel's work for it, in us; 0: there is none. */
uint64_t machine_process_cpu_us(int pid);

#endif
