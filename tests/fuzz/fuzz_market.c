/* Market records from strangers (json.md J5, code 1001): what is taken obeys every rule that an
 * image's record must, whatever zeros follow the text, and what is refused changes with no
 * padding. */
#include <stdlib.h>

#include "engine/table/market_change.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A copy of exactly that size: a read past its end is found. */
static bool parse(struct market_record *record, const uint8_t *text, size_t size, size_t zeros)
{
    uint8_t *body = calloc(size + zeros > 0 ? size + zeros : 1, 1);
    if (size > 0)
        memcpy(body, text, size);
    memset(record, 0, sizeof *record);
    bool taken = market_record_parse(record, body, size + zeros);
    free(body);
    return taken;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct market_record record, padded;
    enum { BODY_MAX = 4120 };

    if (size > BODY_MAX)
        return 0;
    bool taken = parse(&record, data, size, 0);
    struct market_record first =
        record; /* as a new market takes it: what was not sent is default */
    first.absent = 0;
    if (taken && !market_record_holds(&first))
        abort();
    if (taken && market_change_is_tighter(&record, &record))
        abort();
    /* Seven zeros at most fill a body to a multiple of 8. */
    if (parse(&padded, data, size, 8 - size % 8) != taken && taken)
        abort();
    if (taken && memcmp(&padded, &record, sizeof record) != 0)
        abort();
    return 0;
}
