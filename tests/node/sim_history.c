/* The history's file of a simulated process, and what happens to it while nothing runs. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mix.h"
#include "sim_world.h"

enum {
    ODDS = 8, /* seeds of the upper half of so many keep rows in a file */
    ROT_ODDS = 6,
    WAYS = 8,
    KEPT = 4,  /* starts of so many ways keep a copy for a later one */
    OLDER = 4, /* the ways below it, but 0, put it back */
    PATH_BYTES = 96,
};

void sim_history_make(struct sim *sim, uint64_t seed)
{
    static const char in_memory[] = "/dev/shm/perpd-sim-XXXXXX",
                      on_disk[] = "/tmp/perpd-sim-XXXXXX";

    if (seed % ODDS < ODDS / 2)
        return;
    memcpy(sim->history_folder, in_memory, sizeof in_memory);
    if (mkdtemp(sim->history_folder) != NULL)
        return;
    memcpy(sim->history_folder, on_disk, sizeof on_disk);
    char *made = mkdtemp(sim->history_folder);
    INVARIANT(made != NULL);
}

static void path_of(const struct sim *sim, const char *name, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/%s", sim->history_folder, name);
}

static void copy(const char *from, const char *to)
{
    int source = open(from, O_RDONLY | O_CLOEXEC);
    int target = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    uint8_t bytes[1 << 14];
    ssize_t got;

    INVARIANT(source >= 0 && target >= 0);
    while ((got = read(source, bytes, sizeof bytes)) > 0) {
        ssize_t written = write(target, bytes, (size_t)got);
        INVARIANT(written == got);
    }
    close(source);
    close(target);
}

/* Before a start: a few bytes of the file have changed, it is gone, or it is the copy that was made
 * before an earlier start. The choice follows from what has happened, so that the rest of the run
 * is as without it. */
void sim_history_rot(struct sim *sim)
{
    char path[PATH_BYTES], older[PATH_BYTES];
    struct stat status;

    path_of(sim, "data.mdb", path);
    path_of(sim, "older", older);
    if (sim->history_folder[0] == '\0' || !sim_may(sim, SIM_EVENT_rot) ||
        stat(path, &status) != 0 || status.st_size == 0)
        return;
    uint64_t draw = mix_fold(sim->traffic.sent_count + 1u, 0x9E3779B97F4A7C15u);
    uint64_t way = draw / 256 % WAYS;
    if (draw % ROT_ODDS != 0) {
        if (way < KEPT)
            copy(path, older);
        return;
    }
    sim_note(sim, "history damaged", draw, (uint64_t)status.st_size);
    sim->outcome->histories_damaged++;
    if (way == 0) {
        (void)unlink(path);
        return;
    }
    if (way < OLDER && access(older, R_OK) == 0) {
        copy(older, path);
        return;
    }
    int file = open(path, O_WRONLY | O_CLOEXEC);
    INVARIANT(file >= 0);
    for (uint64_t k = 1; k <= 3; k++) {
        off_t at = (off_t)(mix_fold(draw, k) % (uint64_t)status.st_size);
        ssize_t written = pwrite(file, &draw, 1, at);
        INVARIANT(written == 1);
    }
    close(file);
}

void sim_history_free(struct sim *sim)
{
    static const char *const names[] = { "data.mdb", "data.mdb.damaged", "older" };
    char path[PATH_BYTES];

    for (size_t i = 0; i < CC_COUNT(names) && sim->history_folder[0] != '\0'; i++) {
        path_of(sim, names[i], path);
        (void)unlink(path);
    }
    if (sim->history_folder[0] != '\0')
        (void)rmdir(sim->history_folder);
}
