#include "perp/bench/machine.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 9, VERIFICATIONS = 25, LINE_BYTES = 1024 };

static void read_processor(struct machine *machine)
{
    char line[LINE_BYTES];
    FILE *in = fopen("/proc/cpuinfo", "re");

    while (in != NULL && machine->processor[0] == '\0' && fgets(line, sizeof line, in) != NULL)
        (void)sscanf(line, "model name : %127[^\n]", machine->processor);
    if (in != NULL)
        (void)fclose(in);
}

static void read_ticks(struct machine *machine)
{
    char line[LINE_BYTES], *at = line + 4;
    FILE *in = fopen("/proc/stat", "re");

    if (in != NULL && fgets(line, sizeof line, in) != NULL && strncmp(line, "cpu ", 4) == 0) {
        for (int i = 0; i < 8; i++) {
            uint64_t ticks = strtoull(at, &at, 10);
            machine->all_ticks += ticks;
            if (i == 7)
                machine->steal_ticks = ticks;
        }
    }
    if (in != NULL)
        (void)fclose(in);
}

void machine_read(struct machine *machine)
{
    struct utsname name;

    *machine =
        (struct machine){ .cores = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN), .load_1min = -1 };
    read_processor(machine);
    read_ticks(machine);
    if (uname(&name) == 0)
        snprintf(machine->kernel, sizeof machine->kernel, "%.40s %.80s", name.sysname,
                 name.release);
    if (getloadavg(&machine->load_1min, 1) != 1)
        machine->load_1min = -1;
}

double machine_steal(const struct machine *before, const struct machine *after)
{
    if (after->all_ticks <= before->all_ticks)
        return -1;
    return (double)(after->steal_ticks - before->steal_ticks) /
           (double)(after->all_ticks - before->all_ticks);
}

static double thread_cpu_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

double machine_calibrate_ns(void)
{
    static const uint8_t seed[crypto_sign_SEEDBYTES] = "perp bench calibrates with this";
    static const uint8_t message[72] = "as long as the payload of a limit order";
    uint8_t key[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES];
    uint8_t signature[crypto_sign_BYTES];
    double least = 1e18;

    (void)crypto_sign_seed_keypair(key, secret, seed);
    (void)crypto_sign_detached(signature, NULL, message, sizeof message, secret);
    for (int round = 0; round < ROUNDS; round++) {
        double begin_ns = thread_cpu_ns();
        for (int i = 0; i < VERIFICATIONS; i++)
            INVARIANT(crypto_sign_verify_detached(signature, message, sizeof message, key) == 0);
        double took = (thread_cpu_ns() - begin_ns) / VERIFICATIONS;
        least = took < least ? took : least;
    }
    return least;
}

uint64_t machine_process_cpu_us(int pid)
{
    char path[64], text[LINE_BYTES];
    unsigned long user = 0, system = 0;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return 0;
    size_t got = fread(text, 1, sizeof text - 1, in);
    (void)fclose(in);
    text[got] = '\0';
    const char *at = strrchr(text, ')');
    if (at == NULL ||
        sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
        return 0;
    return (user + system) * 1000000u / (uint64_t)sysconf(_SC_CLK_TCK);
}
