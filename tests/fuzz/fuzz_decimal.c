/* Decimals (rules.md R1, json.md J1): what parses at a scale formats to a text that parses to the
 * same number, whatever the text looked like. */
#include <stdlib.h>

#include "base/decimal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[DECIMAL_TEXT_MAX];
    int64_t value = 0;
    int64_t again = 0;
    unsigned scale;

    if (size == 0)
        return 0;
    scale = data[0] % 19;
    if (decimal_parse((const char *)data + 1, size - 1, scale, INT64_MIN, INT64_MAX, &value) !=
        DECIMAL_OK)
        return 0;
    size_t count = decimal_format(text, value, scale);
    if (count >= sizeof text || text[count] != '\0')
        abort();
    if (decimal_parse(text, count, scale, INT64_MIN, INT64_MAX, &again) != DECIMAL_OK)
        abort();
    if (again != value)
        abort();
    return 0;
}
