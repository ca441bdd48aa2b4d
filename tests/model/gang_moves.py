"""What a gang and the world can do, and how a sequence of it is played.

A storm is a tuple of events: what happens to the world. A plan has for each event two tuples of
moves of the gang: those before it, and those at once after it, while its work is still deferred."""
from rule_book import IS_FORMER  # first: it says where the others come from
from gang_world import BTC, DOGE, IOC, LEVERAGE, PPM, STAKE, USDC, World
from wire import ACTIVE, CANCEL_ONLY, GTC, HALTED


# ---- events

def calm(world, seconds):
    for _ in range(seconds - 1):
        world.second()


def jump(world, asset, ppm):
    """The true price jumps, and the oracle says so."""
    world.move(asset, world.true[asset] * (PPM + ppm) // PPM)
    if asset not in world.silent:
        world.publish(asset)


def slide(world, asset, ppm, steps):
    """A step a second: nobody who is liquidated in time loses more than his margin."""
    for _ in range(steps):
        jump(world, asset, ppm)
        world.work()
        world.second()


def silence(world, asset):
    """The oracle of a market stops until its index is stale."""
    world.silent.add(asset)
    for _ in range(11):
        world.second()


def voice(world, asset):
    world.silent.discard(asset)
    world.publish(asset)


def fault(world, asset, divisor, times):
    """Wrong prices within milliseconds; the next ones are right again."""
    right = world.published[asset]
    for _ in range(times):
        world.published[asset] = right // divisor
        world.publish(asset)
    world.published[asset] = right


def leave(world, asset):
    """The makers of a market go."""
    world.makers_away.add(asset)
    world.quote()


def come(world, asset):
    world.makers_away.discard(asset)


def halt(world, asset, state):
    world.state(asset, state)


EVENTS = {each.__name__: each for each in (calm, jump, slide, silence, voice, fault, leave, come,
                                           halt)}


# ---- moves

def believed(world, asset):
    return world.exchange.markets[asset].mark


def cross(world, one, other, asset, share, off_ppm):
    """`one` sells to `other`, a share of what its equity may carry, off the mark by that much."""
    seller, buyer = world.members[one], world.members[other]
    price = believed(world, asset) * (PPM + off_ppm) // PPM
    worth = max(0, min(world.equity(seller), world.equity(buyer), 2 * STAKE * USDC))
    quantity = worth * LEVERAGE[asset] * share // 100 // max(1, price)
    if quantity:
        world.order(buyer.id(), asset, price, quantity)
        world.order(seller.id(), asset, price, -quantity, IOC)
        world.cancel_all(buyer.id(), asset)


def rest(world, one, asset, usdc, off_ppm):
    """An order that rests, of that many USDC; a negative one sells."""
    price = believed(world, asset) * (PPM + off_ppm) // PPM
    if price > 0 and usdc:
        quantity = abs(usdc) * USDC // price
        world.order(world.members[one].id(), asset, price, quantity if usdc > 0 else -quantity)


def frame(world, one, other, asset, low_ppm, high_ppm):
    """Two small orders, a bid and an ask, so far apart as they like."""
    rest(world, one, asset, 27, low_ppm)
    rest(world, other, asset, -27, high_ppm)


def take_book(world, one, asset, usdc):
    """Takes from the book what stands within 2 % of the mark."""
    side = 1 if usdc > 0 else -1
    price = believed(world, asset) * (PPM + side * 20000) // PPM
    world.order(world.members[one].id(), asset, price, usdc * USDC // price, IOC)


def hand_over(world, one, other, asset, kept_usdc, off_ppm):
    """`one` closes its position against `other`, but for a rest of that many USDC."""
    member, friend = world.members[one], world.members[other]
    holding = member.holdings[asset]
    price = believed(world, asset) * (PPM + off_ppm) // PPM
    quantity = abs(holding.size) - kept_usdc * USDC // price
    if not holding.size or quantity <= 0:
        return
    side = 1 if holding.size > 0 else -1
    world.order(friend.id(), asset, price, side * quantity)
    world.order(member.id(), asset, price, -side * quantity, IOC, 0, 1)
    world.cancel_all(friend.id(), asset)


def close(world, one, asset):
    """Against the book."""
    holding = world.members[one].holdings[asset]
    if holding.size:
        side = 1 if holding.size > 0 else -1
        price = believed(world, asset) * (PPM - side * 30000) // PPM
        world.order(world.members[one].id(), asset, price, -holding.size, IOC, 0, 1)


def take(world, one):
    world.take(world.members[one])


def wait(world, seconds):
    for _ in range(seconds):
        world.second()


def cancel(world, one, asset):
    world.cancel_all(world.members[one].id(), asset)


def wall(world, one, asset, usdc, off_ppm, count):
    """Reduce-only orders of so many USDC each against its position, on the side of the mark where
    they rest."""
    member = world.members[one]
    side = -1 if member.holdings[asset].size > 0 else 1
    price = believed(world, asset) * (PPM - side * off_ppm) // PPM
    for _ in range(count if price > 0 and member.holdings[asset].size else 0):
        world.order(member.id(), asset, price, side * (usdc * USDC // price), GTC, 0, 1)


MOVES = {each.__name__: each for each in (cross, rest, frame, take_book, hand_over, close, take,
                                          wait, cancel, wall)}
MORE = {}  # moves that are played and not drawn: those of gang_account_moves.py


# ---- playing

def play(source, storm, plan, members=4, bystanders=False):
    """The world at the end and the gang's gain that nothing explains, in micro-USDC."""
    world, moves = World(source, members, bystanders), {**MOVES, **MORE}
    for event, (before, after) in zip(storm, plan):
        for name, *values in before:
            moves[name](world, *values)
        EVENTS[event[0]](world, *event[1:])
        for name, *values in after:
            moves[name](world, *values)
        world.work()
        world.second()
    return world, world.gain()


# ---- what a search draws from

SHARES = 5, 20, 50, 80, 95
OFFS = 0, 0, 0, -100000, -49000, -20000, -5000, 5000, 20000, 49000, 99000
SIZES = 11, 15, 27, 40, 100, 1000, 20000, 100000


def random_move(rng, members):
    weights = (5, 6, 1, 3, 3, 1, 2, 1, 1, 0 if IS_FORMER else 2)  # its holes were found without
    name = rng.choices(list(MOVES), weights)[0]
    one, asset = rng.randrange(members), rng.choice((BTC, DOGE))
    other = (one + rng.randrange(1, members)) % members
    sign = rng.choice((-1, 1))
    if name == "cross":
        return name, one, other, asset, rng.choice(SHARES), rng.choice(OFFS)
    if name == "frame":
        return name, one, other, asset, rng.choice(OFFS), rng.choice((49000, 2000000, 20000000))
    if name == "rest":
        off = rng.choice((*OFFS, 2000000, 20000000))
        return name, one, asset, rng.choice(SIZES) * (-1 if off > 100000 else sign), off
    if name == "take_book":
        return name, one, asset, rng.choice(SIZES) * sign
    if name == "hand_over":
        return name, one, other, asset, rng.choice((0, 15, 40, 100)), rng.choice(OFFS[:5])
    if name == "wall":
        return (name, one, asset, rng.choice(SIZES), rng.choice((0, 5000, 20000, 49000)),
                rng.choice((1, 4, 8)))
    if name in ("close", "cancel"):
        return name, one, asset
    return (name, one) if name == "take" else (name, rng.randrange(1, 3))


def random_plan(rng, storm, members):
    return [[[random_move(rng, members) for _ in range(rng.choice((0, 0, 1, 2, 3)))]
             for _ in range(2)] for _ in storm]


def mutated(rng, plan, members):
    """A copy in which one or two moves are added, dropped, drawn anew or put elsewhere."""
    plan = [[list(moves) for moves in slots] for slots in plan]
    for _ in range(rng.choice((1, 1, 2, 3))):
        moves = rng.choice(rng.choice(plan))
        kind = rng.randrange(4)
        if kind == 0 or not moves:
            moves.insert(rng.randrange(len(moves) + 1), random_move(rng, members))
        elif kind == 1:
            moves.pop(rng.randrange(len(moves)))
        elif kind == 2:
            moves[rng.randrange(len(moves))] = random_move(rng, members)
        else:
            rng.choice(rng.choice(plan)).append(moves.pop(rng.randrange(len(moves))))
    return plan


def random_storm(rng):
    """Events of every kind; faults and silences in one run of four each."""
    asset = rng.choice((BTC, DOGE))
    other = BTC + DOGE - asset
    storm = [("calm", 1)]
    if rng.random() < 0.3:
        storm.append(("leave", rng.choice((asset, other))))
    if rng.random() < 0.25:
        storm.append(("silence", other))
    for _ in range(rng.randrange(1, 4)):
        sign = rng.choice((-1, 1))
        storm.append(rng.choice((
            ("jump", asset, sign * rng.randrange(5000, 100000)),
            ("slide", asset, sign * rng.randrange(1000, 9000), rng.randrange(3, 12)),
            ("calm", 2))))
    if rng.random() < 0.2:  # the operator stops a market and lets it go on
        halted = rng.choice((asset, other))
        storm.insert(rng.randrange(1, len(storm)),
                     ("halt", halted, rng.choice((CANCEL_ONLY, HALTED))))
        storm.append(("halt", halted, ACTIVE))
    if rng.random() < 0.25:
        storm.append(("fault", rng.choice((asset, other)), 10, 3))
        storm.append(("calm", 1))
    return tuple(storm)

