/* share_list.h - the bounded tables that accounts have shares of, and the classes of accounts
 * (wire.md W8, Slots), as reads and metrics number and name them. */
#ifndef BASE_SHARE_LIST_H
#define BASE_SHARE_LIST_H

/* clang-format off */
/*    table           option of its size */
#define SHARE_TABLE_LIST(X) \
    X(accounts,       engine_accounts) \
    X(subaccounts,    engine_portfolios) \
    X(portfolios,     engine_portfolios) \
    X(orders,         engine_orders) \
    X(conditionals,   engine_orders) \
    X(positions,      engine_positions) \
    X(leverages,      engine_positions) \
    X(mmps,           engine_positions) \
    X(credentials,    engine_credentials) \
    X(arms,           engine_credentials) \
    X(withdrawals,    engine_deposits)

#define SHARE_CLASS_LIST(X) X(unfunded) X(small) X(full)
/* clang-format on */

enum share_table {
#define X(name, size) SHARE_##name,
    SHARE_TABLE_LIST(X)
#undef X
        SHARE_TABLE_COUNT
};

enum share_class {
#define X(name) SHARE_CLASS_##name,
    SHARE_CLASS_LIST(X)
#undef X
        SHARE_CLASS_COUNT
};

/* The name of a table and of a class, static. */
static inline const char *share_table_name(enum share_table table)
{
    static const char *const names[] = {
#define X(name, size) #name,
        SHARE_TABLE_LIST(X)
#undef X
    };
    return names[table];
}

static inline const char *share_class_name(enum share_class class)
{
    static const char *const names[] = {
#define X(name) #name,
        SHARE_CLASS_LIST(X)
#undef X
    };
    return names[class];
}

#endif
