"""What X-Ack: full adds to an answer, as of the end of the command (json.md J4)."""
import wire

ASSET_AT = {wire.PLACE: 44, wire.AMEND: 48, wire.REPLACE: 60, wire.CANCEL: 32, wire.CANCEL_ALL: 16,
            wire.MARKET_ORDER: 28, wire.CONDITIONAL: 52, wire.CONDITIONAL_CANCEL: 32}
NOTHING = (None,) * 5


def of_order(order):
    """(remaining, filled, filled notional, status, quantity ahead or None)."""
    if order is None:
        return NOTHING
    status, ahead = order.status, None
    if order.level:
        ahead = 0
        for before in order.level.orders:  # dead ones count until they are removed
            if before is order:
                break
            ahead += before.remaining
    return order.remaining, order.filled, order.value, status, ahead


def of(exchange, command):
    """The same with best bid, best ask and book sequence of the market that the body names."""
    body = command[2][24:]
    at = ASSET_AT[command[1]]
    market = exchange.markets.get(int.from_bytes(body[at:at + 2], "little"))
    rows = (None,) * 3
    if market:
        rows = market.bids.best(), market.asks.best(), market.book_seq
    return of_order(exchange.own_order) + rows
