"""Moves and events for robberies with conditional orders, protection, transfers, withdrawals that
come back, closings, and a clock that stands. Their names are added to those of gang_moves.py."""
import gang_moves
import wire
from gang_moves import believed
from gang_world import PPM, SECOND, USDC
from wire import GTC, REDUCE_ONLY, STOP_MARKET, CLOSED

NO_GROUP = bytes(16)


# ---- events

def announce(world, asset):
    """The closing of a market, said an hour ahead."""
    world.send(wire.MARKET_STATE, wire.STATE_BODY.pack(asset, 0, REDUCE_ONLY, 1, 0))


def pass_time(world, seconds, step):
    """Long times in few updates: every `step` seconds a full second with prices and quotes."""
    end = world.clock + seconds * SECOND
    while world.clock < end:
        world.clock += (step - 1) * SECOND
        world.second()


def shut(world, asset, force):
    """CLOSED, at once by force."""
    world.send(wire.MARKET_STATE, wire.STATE_BODY.pack(asset, 0, CLOSED, force, 0))
    world.makers_away.add(asset)


def stand(world, step_seconds):
    """A start finds the clock far off: every market halts until the operator has looked."""
    world.unsigned(wire.BOOT, wire.BOOT_BODY.pack(1, 1, 0, step_seconds * SECOND))


def confirm(world, step_seconds):
    """The operator confirms the gap; the clock goes on behind it."""
    world.send(wire.CLOCK_CONFIRM, wire.CLOCK_CONFIRM_BODY.pack(step_seconds * SECOND, 0))
    world.clock += max(0, step_seconds) * SECOND


# ---- moves

def transfer(world, one, other, share):
    """A share of what is free of a portfolio into another one of the account."""
    source, target = world.members[one], world.members[other]
    amount = world.exchange.money.free(source) * share // 100
    if amount > 0:
        world.send(wire.TRANSFER, wire.TRANSFER_BODY.pack(*source.id(), *target.id(), amount))


def stop(world, one, asset, usdc, trigger_ppm, reduce_only):
    """A stop at the market price; a negative one sells. Its source is the mark."""
    price = believed(world, asset)
    trigger = price * (PPM + trigger_ppm) // PPM
    quantity = abs(usdc) * USDC // price * (1 if usdc > 0 else -1)
    world.send(wire.CONDITIONAL, wire.CONDITIONAL_BODY.pack(
        *world.members[one].id(), trigger, 0, quantity, GTC, 0, reduce_only, 1, STOP_MARKET, asset,
        0, 0, 0, 0, 0, NO_GROUP))


def quote(world, one, asset, usdc, off_ppm):
    """A bid and an ask that rest as post-only orders, for protection to end."""
    price = believed(world, asset)
    for side in (1, -1):
        at = price * (PPM - side * off_ppm) // PPM
        world.order(world.members[one].id(), asset, at, side * (usdc * USDC // price), GTC, 1)


def protect(world, one, asset, usdc):
    """Market maker protection from that many USDC of fills in 10 s on, until it is reset."""
    quantity = max(1, usdc * USDC // believed(world, asset))
    world.send(wire.SET_MMP, wire.MMP_BODY.pack(*world.members[one].id(), asset, 0, 10000, 0, 0,
                                                quantity, 0))


def hang_up(world, one):
    """The connection that was armed for it drops: resting orders end, stops that reduce stay."""
    account, subaccount, _ = world.members[one].id()
    world.exchange.protection.arms[bytes(16)] = account, subaccount, 0
    world.unsigned(wire.DISCONNECT, wire.DISCONNECT_BODY.pack(bytes(16)))


def deadline(world, one, seconds):
    world.send(wire.SCHEDULE_CANCEL, wire.SCHEDULE_BODY.pack(
        *world.members[one].id(), world.clock + 1000 + seconds * SECOND))


def take_back(world, one):
    """The operator reverts what is under way of a portfolio's withdrawals."""
    for found in list(world.exchange.money.withdrawals.values()):
        if found.pending and found.portfolio is world.members[one]:
            world.send(wire.SETTLE, wire.SETTLE_BODY.pack(found.id, 1, bytes(7)))
            world.withdrawn -= found.amount


def pay_in(world, one, usdc):
    """More of the gang's own money."""
    world.deposit(world.members[one].id(), usdc)
    world.stake += usdc * USDC


EVENTS = {each.__name__: each for each in (announce, pass_time, shut, stand, confirm)}
MOVES = {each.__name__: each for each in (transfer, stop, quote, protect, hang_up, deadline,
                                          take_back, pay_in)}
gang_moves.EVENTS.update(EVENTS)
gang_moves.MORE.update(MOVES)
