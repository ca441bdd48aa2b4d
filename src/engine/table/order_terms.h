/* order_terms.h - the terms of an order: the codes of its side, kind, time in force and flags, as
 * on the wire and in the order table. */
#ifndef ENGINE_TABLE_ORDER_TERMS_H
#define ENGINE_TABLE_ORDER_TERMS_H

#include "base/compiler.h"

enum order_side { ORDER_LONG = 0, ORDER_SHORT = 1 };

/* Time in force. 0 to 2 are the wire's live_tif. */
enum order_tif { ORDER_IOC = 0, ORDER_FOK = 1, ORDER_GTC = 2, ORDER_GTT = 3 };

/* The wire's order_type. A triggered order keeps its type (R8). */
enum order_type {
    ORDER_MARKET,
    ORDER_LIMIT,
    ORDER_STOP_LIMIT,
    ORDER_STOP_MARKET,
    ORDER_TAKE_PROFIT,
    ORDER_TAKE_PROFIT_MARKET,
    ORDER_LIQUIDATE,
    ORDER_AUTO_DELEVERAGE,
    ORDER_TYPE_COUNT
};

enum {
    ORDER_POST_ONLY = 1 << 0,
    ORDER_REDUCE_ONLY = 1 << 1,
    ORDER_STP_SHIFT = 2, /* 2 bits: the wire's stp code */
    ORDER_TIF_SHIFT = 4, /* 2 bits: enum order_tif */
    ORDER_TIF_MASK = 3 << ORDER_TIF_SHIFT,
    ORDER_WAS_REDUCING = 1 << 6, /* it was reduce-only before it changed in its place (R5) */
};

/* The wire's expiries that are no time. */
#define ORDER_EXPIRY_IOC UINT64_C(0)
#define ORDER_EXPIRY_FOK UINT64_C(1)
#define ORDER_EXPIRY_GTC UINT64_MAX

#endif
