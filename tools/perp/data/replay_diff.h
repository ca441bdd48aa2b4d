/* replay_diff.h - replays two data directories and finds the first sequence at which their records
 * or effects differ.
 *
 * Owner. The command's thread.
 * Bound. Memory: one engine, and 16 bytes for each record. */
#ifndef PERP_DATA_REPLAY_DIFF_H
#define PERP_DATA_REPLAY_DIFF_H

#include "perp/data/replay_run.h"

/* Replays run->directory, then `other`, from the same start to the same end, and prints the result.
 * An earlier end of one of them is printed, but is no difference. */
void replay_diff(const struct replay_run *run, const struct data_directory *other);

#endif
