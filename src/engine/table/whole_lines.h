/* whole_lines.h - rounds sizes up to whole cache lines. The tables' *_table_bytes and *_table_init
 * both lay out their memory with it, so that each part begins a line. */
#ifndef ENGINE_TABLE_WHOLE_LINES_H
#define ENGINE_TABLE_WHOLE_LINES_H

#include "base/compiler.h"

/* Returns `bytes` rounded up to a multiple of CC_CACHE_LINE. */
static inline size_t whole_lines(size_t bytes)
{
    return (bytes + CC_CACHE_LINE - 1) & ~(size_t)(CC_CACHE_LINE - 1);
}

#endif
