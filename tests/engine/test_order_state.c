/* The moves of rules.md R3 ("Order states") and the codes of wire.md (Enum codes), copied from
 * there by hand: every pair of states, so a missing move fails as surely as one too many. */
#include <string.h>

#include "check.h"
#include "engine/table/order_state.h"

static const struct row {
    int line;
    const char *name;
    int code;
    const char *next; /* space after each word */
} rows[] = {
#define R(name, code, next)        \
    {                              \
        __LINE__, name, code, next \
    }
    R("OPEN", 0, "PARTIALLY_FILLED FILLED CANCELED EXPIRED "),
    R("FILLED", 1, ""),
    R("CANCELED", 2, ""),
    R("REJECTED", 3, ""),
    R("UNTRIGGERED", 4, "OPEN FILLED PARTIALLY_FILLED CANCELED EXPIRED REJECTED "),
    R("PARTIALLY_FILLED", 5, "FILLED CANCELED EXPIRED "),
    R("EXPIRED", 6, ""),
    R("NEW", 7, "REJECTED OPEN FILLED PARTIALLY_FILLED CANCELED UNTRIGGERED "),
#undef R
};

/* Whole words: "FILLED " is not found in "PARTIALLY_FILLED ". */
static bool names(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = list; (at = strstr(at, word)) != NULL; at++)
        if ((at == list || at[-1] == ' ') && at[length] == ' ')
            return true;
    return false;
}

int main(void)
{
    CHECK(CC_COUNT(rows) == ORDER_STATE_COUNT);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        const struct row *row = &rows[i];
        CHECK_ROW(row, strcmp(order_state_name((enum order_state)row->code), row->name) == 0);
        CHECK_ROW(row, order_state_is_final((enum order_state)row->code) == (*row->next == '\0'));
        for (size_t j = 0; j < CC_COUNT(rows); j++)
            CHECK_ROW(row, order_state_may_become((enum order_state)row->code,
                                                  (enum order_state)rows[j].code) ==
                               names(row->next, rows[j].name));
    }
    return 0;
}
