/* pause.h - waiting for an exchange that is not ready yet.
 *
 * Wait. The calling thread sleeps. */
#ifndef PERP_DEMO_PAUSE_H
#define PERP_DEMO_PAUSE_H

#include "base/compiler.h"

enum { PAUSE_STEP_MS = 20, PAUSE_TRIES_MAX = 6000 }; /* two minutes at least */

void pause_ms(uint32_t milliseconds);

/* Pauses before each try but the first (0). False: there were PAUSE_TRIES_MAX, it will never be. */
CC_MUST_USE bool pause_before(uint32_t tries);

#endif
