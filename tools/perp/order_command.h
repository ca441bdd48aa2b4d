/* order_command.h - conditional orders, batches, makers' protection: rows of command.h's table. */
#ifndef PERP_ORDER_COMMAND_H
#define PERP_ORDER_COMMAND_H

/* clang-format off */
#define FLAGS_CONDITIONAL \
    (FLAGS_ORDER | FLAG(tif) | FLAG(post_only) | FLAG(reduce_only) | FLAG(stp) | \
     FLAG(max_slippage) | FLAG(expires) | FLAG(oco))

/*    words, handler, positionals, flags, summary, text */
#define ORDER_COMMAND_LIST(X) \
    X("stop", command_conditional_stop, "MARKET SIDE SIZE TRIGGER [PRICE]", FLAGS_CONDITIONAL, \
      "an order that waits: buy when the price has risen to TRIGGER, sell when it has fallen", \
      "TRIGGER is a price of the mark, or last:PRICE, index:PRICE. With PRICE it fires as a limit\n" \
      "order (--tif GTC, IOC or FOK), without it as a market order. --expires ends its wait.") \
    X("take-profit", command_conditional_take_profit, "MARKET SIDE SIZE TRIGGER [PRICE]", \
      FLAGS_CONDITIONAL, \
      "an order that waits: sell when the price has risen to TRIGGER, buy when it has fallen", \
      "As 'perp stop'. With --oco UUID in both, the first that fires cancels the other.") \
    X("cancel-conditional", command_trade_cancel_conditional, "MARKET ORDER_ID", FLAGS_ORDER, \
      "cancel an order that waits", \
      "One that has fired and rests is answered conditional_order_on_books: perp cancel.") \
    X("batch", command_batch_send, "FILE", FLAGS_ORDER, \
      "up to 64 orders, changes and cancels in one request", \
      "A line each; '-' reads standard input, '#' begins a comment:\n" \
      "  order MARKET SIDE SIZE PRICE [post-only] [reduce-only] [tif=GTC|IOC|FOK] [stp=MODE]\n" \
      "  reduce MARKET ORDER_ID SIZE\n" \
      "  replace MARKET ORDER_ID SIDE SIZE PRICE [as above]\n" \
      "  cancel MARKET ORDER_ID\n" \
      "'atomic' as the first line: all or nothing, cancels and post-only orders alone. The ids of\n" \
      "new orders are told before it is sent; results has the status of each item.") \
    X("schedule-cancel", command_guard_schedule, "SECONDS", FLAGS_ORDER, \
      "cancel a portfolio's orders unless this is said again within SECONDS", \
      "1 to 86400, or off. Reduce-only conditional orders stay.") \
    X("mmp set", command_guard_mmp_set, "MARKET WINDOW_MS FROZEN_MS MAX MAX_NET", FLAGS_ORDER, \
      "protect a market maker: freeze after fills of MAX, or MAX_NET one way, in a window", \
      "Sizes in base units, 0 is no limit; FROZEN_MS 0: until perp mmp reset. A freeze cancels the\n" \
      "portfolio's post-only orders there and refuses new ones.") \
    X("mmp off", command_guard_mmp_off, "MARKET", FLAGS_ORDER, \
      "end the protection of a market maker", "") \
    X("mmp reset", command_guard_mmp_reset, "MARKET", FLAGS_ORDER, \
      "end a freeze and begin an empty window", "")
/* clang-format on */

#endif
