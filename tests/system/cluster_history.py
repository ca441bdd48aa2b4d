"""cluster_history.py - what the clients of a cluster saw, judged against its journal: whether each
operation can have happened at one moment between its sending and its answer (replication.md, What
holds).

The journal is the witness: it gives each write its place, and each read names the place whose state
it shows. So nothing is searched, and the check is one pass by time.
"""
import bisect
import collections
import copy
import dataclasses

import client

PLACE, CANCEL, READ = "place", "cancel", "read"
DONE, REFUSED, UNKNOWN = "done", "refused", "unknown"
CODES = {client.PLACE_LIMIT: PLACE, client.CANCEL: CANCEL}
OPEN, CANCELED, ABSENT = "OPEN", "CANCELED", "absent"
CLOCKS_NS = 10_000_000  # a node's clock follows that of its machine, which the client reads

# A command of the journal. `order`: the one that it places or cancels.
Executed = collections.namedtuple("Executed", "sequence what id order")


@dataclasses.dataclass
class Operation:
    """One operation of one client, who sends the same bytes until there is an answer."""
    what: str
    order: bytes  # the id of the order that it places, cancels or reads
    begun: float  # monotonic: the first sending that may have been executed
    ended: float = None  # the answer; None: there is none
    outcome: str = UNKNOWN
    id: bytes = None  # of a write
    sequence: int = None  # of a write its own, of a read the one whose state it shows
    status: str = None  # of a write; of a read order_status, or absent
    node: tuple = None  # of a read: name and start
    leads: bool = False  # of a read: by a leader, without X-Min-Sequence: of the newest state
    age_ms: str = None  # of a read: X-Staleness-Ms
    follows: bool = False  # of a read: by a standby; a leader past its read deadline is neither
    at_least: int = 0  # of a read: X-Min-Sequence
    wall_ns: int = 0  # of a read: the clock when it was sent

    def place(self):
        """Even of a write, odd of a read: behind the write whose state it shows."""
        return 2 * self.sequence + (self.what == READ)


class Journal:
    """The orders and cancels of a chain of frames, and the time of every record."""

    def __init__(self, frames):
        records = [record for frame in frames for record in frame.records]
        self.executed = [Executed(record.sequence, CODES[record.code], record.payload[8:24],
                                  record.payload[8:24] if record.code == client.PLACE_LIMIT
                                  else record.payload[40:56])
                         for record in records if record.kind == 1 and record.code in CODES]
        self.sequences = [record.sequence for record in records]
        self.times = [record.t_ns for record in records]

    def time_of(self, sequence):
        """t of this record; None: the journal has it not."""
        at = bisect.bisect_left(self.sequences, sequence)
        return self.times[at] if self.sequences[at:at + 1] == [sequence] else None


def once(history, journal):
    """No id is executed twice; what was acknowledged is there, what was refused is not."""
    problems, by_id = [], {}
    for row in journal.executed:
        if row.id in by_id:
            problems.append(f"{row.id.hex()} was executed twice, at {by_id[row.id].sequence} and "
                            f"{row.sequence}")
        by_id.setdefault(row.id, row)
    for op in history:
        row = by_id.get(op.id)
        if op.what == READ or op.outcome == UNKNOWN:
            continue
        if op.outcome == REFUSED and row is not None:
            problems.append(f"{op.id.hex()} was refused, and executed at {row.sequence}")
        elif op.outcome == DONE and (row is None or op.sequence not in (None, row.sequence)):
            problems.append(f"{op.id.hex()} was acknowledged at {op.sequence}, the journal has "
                            f"{row}")
    return problems


def placed(history, journal):
    """The operations that have a place, each write with its sequence of the journal."""
    by_id = {row.id: row.sequence for row in journal.executed}
    found = []
    for op in history:
        sequence = op.sequence if op.what == READ else by_id.get(op.id)
        if sequence is not None:
            found.append(dataclasses.replace(op, sequence=sequence))
    return found


def in_real_time(operations):
    """What was answered before another was sent has the lower place, but for reads of a standby:
    one may be older, and one may show what counts before the leader knows that it does. None is
    from the future."""
    problems, highest, at = [], {}, 0
    answered = sorted((op for op in operations if op.ended is not None), key=lambda op: op.ended)
    for op in sorted(operations, key=lambda op: op.begun):
        while at < len(answered) and answered[at].ended < op.begun:
            of_standby = answered[at].what == READ and not answered[at].leads
            if of_standby not in highest or answered[at].place() > highest[of_standby].place():
                highest[of_standby] = answered[at]
            at += 1
        bounds = [] if op.what == READ and not op.leads else \
            [highest.get(of_standby) for of_standby in (False, True)[:2 - (op.what == READ)]]
        for before in bounds:
            if before is not None and op.place() < before.place():
                problems.append(f"the {op.what} of {op.order.hex()} was sent at {op.begun:.4f} and "
                                f"has sequence {op.sequence}; a {before.what} with "
                                f"{before.sequence} was answered at {before.ended:.4f}")
    return problems


def reads_of_standbys(operations, journal, stale_ns):
    """Each is of a sequence of the journal, not below what was asked for and not older than a
    standby may show; those that one node answered one behind the other do not go back."""
    problems, last = [], {}
    for op in sorted((op for op in operations if op.what == READ), key=lambda op: op.begun):
        t_ns = journal.time_of(op.sequence)
        if t_ns is None:
            problems.append(f"a read of {op.node} shows sequence {op.sequence}, which is nowhere")
        elif op.follows and t_ns < op.wall_ns - stale_ns - CLOCKS_NS:
            problems.append(f"a read of {op.node} shows sequence {op.sequence}, which was "
                            f"{(op.wall_ns - t_ns) / 1e9:.3f} s old when it was sent at "
                            f"{op.wall_ns / 1e9:.3f} for {op.at_least} or more; it took "
                            f"{op.ended - op.begun:.3f} s and said {op.age_ms} ms")
        if op.sequence < op.at_least:
            problems.append(f"a read of {op.node} with X-Min-Sequence {op.at_least} shows "
                            f"{op.sequence}")
        before = last.get(op.node)
        if before is not None and before.ended < op.begun and op.sequence < before.sequence:
            problems.append(f"{op.node} showed sequence {before.sequence} and then {op.sequence}")
        if before is None or op.sequence >= before.sequence:
            last[op.node] = op
    return problems


def outcomes(history, journal):
    """Each answer is what the commands up to its place make of that order."""
    began, ended, problems, by_id = {}, {}, [], {row.id: row for row in journal.executed}
    for row in journal.executed:
        if row.what == PLACE:
            began.setdefault(row.order, row.sequence)
        elif row.order in began:
            ended.setdefault(row.order, row.sequence)

    def state(order, sequence):
        if began.get(order, sequence + 1) > sequence:
            return ABSENT
        return CANCELED if ended.get(order, sequence + 1) <= sequence else OPEN

    for op in history:
        if op.what == READ:
            want = state(op.order, op.sequence)
        elif op.outcome != DONE or op.id not in by_id:
            continue
        elif op.what == CANCEL and state(op.order, by_id[op.id].sequence - 1) != OPEN:
            want = "rejected_order_not_found"
        else:
            want = "request_completed"
        if op.status != want:
            problems.append(f"the {op.what} of {op.order.hex()} with sequence {op.sequence} is "
                            f"answered {op.status}: it must be {want}")
    return problems


def violations(history, journal, stale_ns):
    operations = placed(history, journal)
    return (once(history, journal) + in_real_time(operations) +
            reads_of_standbys(operations, journal, stale_ns) + outcomes(history, journal))


# --- faults, each put into what was recorded ------------------------------------------------------

def pair_in_order(history):
    """Two acknowledged orders, the first answered before the second was sent."""
    orders = sorted((op for op in history if op.what == PLACE and op.outcome == DONE and
                     op.sequence is not None), key=lambda op: op.begun)
    return orders[0], next(op for op in orders if op.begun > orders[0].ended)


def stale_read(history, journal, _):
    """A read of a leader that lacks what was acknowledged before it was sent."""
    first, second = pair_in_order(history)
    read = Operation(READ, first.order, second.ended + 1e-6, second.ended + 2e-6, DONE,
                     sequence=second.sequence - 1, status=OPEN, node=("x", 1), leads=True,
                     wall_ns=journal.time_of(second.sequence))
    history.append(read)


def old_read(history, journal, stale_ns):
    """A read of a standby of a state that is older than it may be."""
    first, _ = pair_in_order(history)
    history.append(Operation(READ, first.order, first.ended, first.ended + 1, DONE, follows=True,
                             sequence=first.sequence, status=OPEN, node=("x", 1),
                             wall_ns=journal.time_of(first.sequence) + stale_ns + CLOCKS_NS + 1))


def read_below_asked(history, journal, _):
    first, second = pair_in_order(history)
    history.append(Operation(READ, first.order, second.ended, second.ended + 1, DONE,
                             sequence=first.sequence, status=OPEN, node=("x", 1),
                             at_least=second.sequence, wall_ns=journal.time_of(first.sequence)))


def read_of_the_future(history, journal, _):
    """A read that was answered before an order was sent shows it."""
    first, second = pair_in_order(history)
    history.append(Operation(READ, first.order, first.begun, second.begun - 1e-6, DONE,
                             sequence=second.sequence, status=OPEN, node=("x", 1),
                             wall_ns=journal.time_of(first.sequence)))


def wrong_row(history, journal, _):
    first, _ = pair_in_order(history)
    history.append(Operation(READ, first.order, first.ended, first.ended + 1, DONE,
                             sequence=first.sequence, status=ABSENT, node=("x", 1),
                             wall_ns=journal.time_of(first.sequence)))


def executed_twice(history, journal, _):
    first, _ = pair_in_order(history)
    row = next(row for row in journal.executed if row.id == first.id)
    journal.executed = [*journal.executed, row._replace(sequence=journal.sequences[-1])]


def lost_order(history, journal, _):
    first, _ = pair_in_order(history)
    journal.executed = [row for row in journal.executed if row.id != first.id]


def inverted(history, journal, _):
    """Two orders have each other's place, in the journal and in their answers."""
    first, second = pair_in_order(history)
    swap = {first.id: second.sequence, second.id: first.sequence}
    journal.executed = [row._replace(sequence=swap.get(row.id, row.sequence))
                        for row in journal.executed]
    first.sequence, second.sequence = second.sequence, first.sequence


def executed_though_refused(history, journal, _):
    first, _ = pair_in_order(history)
    first.outcome = REFUSED


# Each with the part of the check that has to find it.
FAULTS = ((stale_read, in_real_time), (inverted, in_real_time), (read_of_the_future, in_real_time),
          (old_read, reads_of_standbys), (read_below_asked, reads_of_standbys),
          (wrong_row, outcomes), (executed_twice, once), (lost_order, once),
          (executed_though_refused, once))
FAULTY = 2000  # operations that a fault is put into


def found(check, history, journal, stale_ns):
    if check is in_real_time:
        return check(placed(history, journal))
    if check is reads_of_standbys:
        return check(placed(history, journal), journal, stale_ns)
    return check(history, journal)


def judge(history, frames, stale_ms):
    """Problems of what was recorded, and of the check itself: a fault that it does not find."""
    journal, stale_ns = Journal(frames), stale_ms * 1_000_000
    problems = violations(history, journal, stale_ns)
    for fault, check in [] if problems else FAULTS:
        again, changed = [dataclasses.replace(op) for op in history[:FAULTY]], copy.copy(journal)
        fault(again, changed, stale_ns)
        if not found(check, again, changed, stale_ns):
            problems.append(f"the check does not find: {fault.__name__}")
    kinds = collections.Counter(op.what for op in history)
    kinds["read of a leader"] = sum(op.leads for op in history)
    kinds["without an answer"] = sum(op.outcome == UNKNOWN for op in history)
    print("cluster: judged", ", ".join(f"{count} x {kind}" for kind, count in kinds.items()) +
          f": {len(problems)} violations; {len(FAULTS)} planted faults")
    return problems
