/* word.h - a store of one word that stays one store; any thread. */
#ifndef BASE_WORD_H
#define BASE_WORD_H

#include "base/compiler.h"

/* Stores a word from its register. gcc packs neighbouring words into vector registers first, which
 * costs more than the stores that it saves, and a load of one of them then waits. */
static inline void word_store(uint64_t *word, uint64_t value)
{
    *(volatile uint64_t *)word = value;
}

#endif
