#include "perp_demo/series.h"

#include <string.h>

void series_add(struct series *series, double value)
{
    series->values[series->count++ % SERIES_VALUES] = value;
}

double series_last(const struct series *series)
{
    return series->count == 0 ? 0 : series->values[(series->count - 1) % SERIES_VALUES];
}

/* The greatest of the values from `begin` up to, without, `end` seconds ago; below 0: there is
 * none. */
static double greatest(const struct series *series, uint64_t begin, uint64_t end)
{
    double most = -1;

    for (uint64_t back = begin; back < end && back < series->count && back < SERIES_VALUES;
         back++) {
        double value = series->values[(series->count - 1 - back) % SERIES_VALUES];
        if (value > most)
            most = value;
    }
    return most;
}

void series_draw(const struct series *series, uint32_t columns, char *text)
{
    static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    const uint64_t last = CC_COUNT(blocks) - 1;
    double most = greatest(series, 0, SERIES_VALUES);
    uint32_t wide = columns < SERIES_VALUES ? columns : SERIES_VALUES;

    for (uint32_t column = columns; column > 0; column--) {
        const char *block = " ";
        if (column <= wide) {
            /* Column n from the right holds the values from (n - 1) / wide of the minute on. */
            double value = greatest(series, (column - 1) * SERIES_VALUES / wide,
                                    column * SERIES_VALUES / wide);
            uint64_t height =
                most > 0 && value > 0 ? (uint64_t)(value / most * (double)last + 0.5) : 0;
            if (value >= 0)
                block = blocks[height];
        }
        size_t bytes = strlen(block);
        memcpy(text, block, bytes);
        text += bytes;
    }
    *text = '\0';
}
