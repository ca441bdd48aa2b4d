/* replay_diff.h - two data directories replayed against each other: the first sequence whose record
 * or whose effects differ.
 *
 * Owner. The command's thread. Bound. Memory: one engine, and 16 bytes for each record. */
#ifndef PERP_DATA_REPLAY_DIFF_H
#define PERP_DATA_REPLAY_DIFF_H

#include "perp/data/replay_run.h"

/* Replays run->directory, then `other`, from the same start to the same end, and tells the
 * outcome. That one of them ends earlier is no difference, and is said. */
void replay_diff(const struct replay_run *run, const struct data_directory *other);

#endif
