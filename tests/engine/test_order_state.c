/* The moves of rules.md R3 ("Order states") and the codes of wire.md (Enum codes), copied from
 * there by hand: every pair of states, so a missing move fails as surely as one too many. Likewise
 * the moves of a market's state (R9) and of a portfolio's status (R10). */
#include <string.h>

#include "check.h"
#include "engine/state/portfolio.h"
#include "engine/table/market_record.h"
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

static const char *const state_names[ORDER_STATE_COUNT] = {
#define X(name, code, sizes, next) [ORDER_##name] = #name,
    ORDER_STATE_LIST(X)
#undef X
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

/* R9, moves. Row: from; column: to, both in the order of the codes. */
static void test_market_moves(void)
{
    static const char *const moves[] = {
        "-yyyyy", /* ACTIVE */
        "y-yyyy", /* POST_ONLY */
        "yy-yyy", /* REDUCE_ONLY */
        "yyy-yy", /* CANCEL_ONLY */
        "yyyy-y", /* HALTED */
        "------", /* CLOSED */
    };

    CHECK(CC_COUNT(moves) == MARKET_STATE_COUNT && MARKET_CLOSED == 5);
    for (unsigned from = 0; from < MARKET_STATE_COUNT; from++)
        for (unsigned to = 0; to < MARKET_STATE_COUNT; to++)
            CHECK(market_record_may_become((enum market_state)from, (enum market_state)to) ==
                  (moves[from][to] == 'y'));
}

/* R10, moves. */
static void test_portfolio_moves(void)
{
    static const char *const moves[] = {
        "-yy", /* ACTIVE */
        "y--", /* IN_LIQUIDATION */
        "y--", /* CLOSED */
    };

    CHECK(CC_COUNT(moves) == PORTFOLIO_STATUS_COUNT && PORTFOLIO_CLOSED == 2);
    for (unsigned from = 0; from < PORTFOLIO_STATUS_COUNT; from++)
        for (unsigned to = 0; to < PORTFOLIO_STATUS_COUNT; to++)
            CHECK(portfolio_may_become((enum portfolio_status)from, (enum portfolio_status)to) ==
                  (moves[from][to] == 'y'));
}

int main(void)
{
    test_market_moves();
    test_portfolio_moves();
    CHECK(CC_COUNT(rows) == ORDER_STATE_COUNT);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        const struct row *row = &rows[i];
        CHECK_ROW(row, strcmp(state_names[row->code], row->name) == 0);
        CHECK_ROW(row, order_state_is_final((enum order_state)row->code) == (*row->next == '\0'));
        for (size_t j = 0; j < CC_COUNT(rows); j++)
            CHECK_ROW(row, order_state_may_become((enum order_state)row->code,
                                                  (enum order_state)rows[j].code) ==
                               names(row->next, rows[j].name));
    }
    return 0;
}
