/* sim_scrub.h - the second place of the archive and the scrub thread in a simulated life, with bits
 * that turn in archived files of either folder. What lies still and is whole is never told; what
 * has turned is told and taken from the other folder, before the run is over.
 *
 * It draws from a generator of its own, and so changes nothing about what else a seed does. */
#ifndef TESTS_NODE_SIM_SCRUB_H
#define TESTS_NODE_SIM_SCRUB_H

#include "store/archive_copy.h"

struct sim;

struct sim_scrub {
    struct disk *second; /* the folder of store.archive_copy */
    struct archive_copy copy;
    uint64_t random;
    bool is_rotten; /* in one folder the file of segment `rotten` has another bit */
    uint64_t rotten, rotten_at;
    uint64_t unsure; /* segment mended while syncs failed: its old file may return; 0: none */
};

void sim_scrub_make(struct sim *sim, uint64_t seed);
void sim_scrub_free(struct sim *sim);

/* At a start, after core_create. */
void sim_scrub_begin(struct sim *sim);

/* The second disk meets the end of the process, or of the power. */
void sim_scrub_lose(struct sim *sim, bool power_loss);

/* One piece, and perhaps a bit that turns. */
void sim_scrub_step(struct sim *sim, uint64_t now_ns);

/* Reads all files twice: nothing is wrong any more then. */
void sim_scrub_settle(struct sim *sim);

#endif
