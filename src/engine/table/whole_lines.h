/* whole_lines.h - how much memory a part of a table takes, so that the next part of the same
 * memory begins a cache line: what the tables' *_table_bytes and *_table_init both count with. */
#ifndef ENGINE_TABLE_WHOLE_LINES_H
#define ENGINE_TABLE_WHOLE_LINES_H

#include "base/compiler.h"

/* `bytes`, up to the next multiple of CC_CACHE_LINE. */
static inline size_t whole_lines(size_t bytes)
{
    return (bytes + CC_CACHE_LINE - 1) & ~(size_t)(CC_CACHE_LINE - 1);
}

#endif
