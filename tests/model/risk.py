"""Checks of margin (rules.md R7): on touch, after a change, and by the mark scan.

The scan is the fast exact one to the letter, for what it passes over can be seen: while the scan of
a second market waits, a portfolio that its move has sunk is found by that scan, not by the first
one, unless a slack is below zero."""
import funding
import liquidation
from market import PPM, cdiv
from wire import IN_LIQUIDATION


def see_marks(portfolio, equity):
    """What a leg has lost counts from the last state in which its portfolio was solvent."""
    if equity >= 0:
        for holding in portfolio.holdings.values():
            holding.mark_seen = holding.market.mark


def check(exchange, portfolio):
    """Exactly, at the current marks; funding that is due comes first (R5)."""
    funding.settle_portfolio(exchange, portfolio)
    equity, initial, maintenance = portfolio.risk()
    portfolio.slack_maintenance = equity - maintenance
    portfolio.slack_initial = equity - initial
    see_marks(portfolio, equity)
    portfolio.changed, portfolio.checked = False, exchange.mark_epoch
    if portfolio.moved and exchange.run is not None:
        exchange.run.moved(portfolio)
    portfolio.moved = False
    liquidation.judge(exchange, portfolio, equity, maintenance)


def fund_moved(exchange):
    """The fund's cash changed: its slacks follow at once. Its own funding, which is all that a
    check of the fund can tell, waits for its next touch (R5)."""
    fund = exchange.by_number[0]
    if fund.changed:
        return
    equity, initial, maintenance = fund.risk()
    fund.slack_maintenance, fund.slack_initial = equity - maintenance, equity - initial
    see_marks(fund, equity)


def touch(exchange, portfolio):
    """Check-on-touch: spared where nothing moved since the last check."""
    if (portfolio.changed or portfolio.checked != exchange.mark_epoch
            or portfolio.status == IN_LIQUIDATION or portfolio.slack_maintenance < 0):
        check(exchange, portfolio)


def changed(exchange, portfolio):
    """Cash, a position or orders changed: it is checked exactly in this command."""
    if not portfolio.changed:
        portfolio.changed = True
        exchange.changed.append(portfolio)


def flush(exchange):
    """By portfolio number (R7)."""
    while exchange.changed:
        portfolio = min(exchange.changed, key=lambda each: each.number)
        exchange.changed.remove(portfolio)
        if portfolio.changed:
            check(exchange, portfolio)


def weight(size, ppm):
    """What a move of the mark by 1 costs at most."""
    return cdiv(size * (PPM + ppm), PPM)


def scan(exchange, holding):
    """One position of a mark scan."""
    market, portfolio = holding.market, holding.portfolio
    move = abs(market.mark - holding.mark_seen)
    if move:
        size = abs(holding.size)
        maintenance = max(tier[2] for tier in market.tiers)
        initial = max(cdiv(PPM, holding.leverage), max(tier[1] for tier in market.tiers))
        portfolio.slack_maintenance -= weight(size, maintenance) * move + 1
        portfolio.slack_initial -= weight(size + sum(holding.resting()), initial) * move + 1
    if portfolio.number == 0:
        liquidation.fund_scanned(exchange, portfolio)
    if (portfolio.status == IN_LIQUIDATION or portfolio.slack_maintenance < 0
            or move and portfolio.slack_initial < 0):
        check(exchange, portfolio)
    else:
        holding.mark_seen = market.mark
