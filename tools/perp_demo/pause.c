#include "perp_demo/pause.h"

#include <time.h>

void pause_ms(uint32_t milliseconds)
{
    const struct timespec span = { .tv_sec = milliseconds / 1000,
                                   .tv_nsec = (long)(milliseconds % 1000) * 1000000 };
    (void)nanosleep(&span, NULL);
}

bool pause_before(uint32_t tries)
{
    if (tries > 0)
        pause_ms(PAUSE_STEP_MS);
    return tries < PAUSE_TRIES_MAX;
}
