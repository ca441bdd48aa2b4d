#include "perp/bench/outcomes.h"

#include <stdio.h>

static uint16_t add(struct outcomes *outcomes, const char *word, size_t count)
{
    INVARIANT(outcomes->count < OUTCOMES_MAX);
    snprintf(outcomes->words[outcomes->count], OUTCOMES_WORD_BYTES, "%.*s", (int)count, word);
    return (uint16_t)outcomes->count++;
}

void outcomes_init(struct outcomes *outcomes)
{
    outcomes->count = 0;
    for (uint32_t i = 0; i < STATUS_COUNT; i++) {
        const char *name = status_name((enum status)i);
        (void)add(outcomes, name == NULL ? "" : name, name == NULL ? 0 : strlen(name));
    }
    outcomes->other = add(outcomes, "other", 5);
    outcomes->unreadable = add(outcomes, "unreadable", 10);
}

uint16_t outcomes_number(struct outcomes *outcomes, const char *word, size_t count)
{
    if (count >= OUTCOMES_WORD_BYTES)
        return outcomes->other;
    for (uint32_t i = 0; i < outcomes->count; i++)
        if (memcmp(outcomes->words[i], word, count) == 0 && outcomes->words[i][count] == '\0')
            return (uint16_t)i;
    return outcomes->count < OUTCOMES_MAX ? add(outcomes, word, count) : outcomes->other;
}
