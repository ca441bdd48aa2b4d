/* divergence.h - writes the evidence after follower and primary diverged: both images, as files.
 *
 * Written after every role has ended, to DATA/divergence-primary.image and -follower.image, for
 * comparison offline. The process then exits 1 (roles.md, Effects). */
#ifndef NODE_RUN_DIVERGENCE_H
#define NODE_RUN_DIVERGENCE_H

#include "node/run/core.h"

/* Writes both files. A file that cannot be written is logged, and the other is written. */
void divergence_write(struct core *core, const char *data_directory);

#endif
