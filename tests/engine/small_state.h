/* small_state.h - a state in small tables that has rows in every section of the image, and deferred
 * work left over: what tests of damage and of versions go by. */
#ifndef TESTS_ENGINE_SMALL_STATE_H
#define TESTS_ENGINE_SMALL_STATE_H

#include "host.h"

/* Opens the host and brings it there. The same commands always. */
void small_state_open(struct host *host);

#endif
