"""Reads tests/scenarios/*.script: scenarios of one command a line (README.md has the language)."""
import pathlib
import re

from markets import Wrong

COMMANDS = set("""account deposit withdraw settle transfer subaccount close-subaccount portfolio
    close-account portfolio-close portfolio-reopen rename leverage faucet session
    revoke limit market stop take reduce replace cancel cancel-conditional
    cancel-all batch - schedule mmp mmp-reset oracle accept confirm-clock state
    halt-all define suspend top-up operator-cancel tier again raw arm disconnect""".split())
WITHOUT_STATUS = {"scenario", "config", "clock", "wait", "expect", "engine-only", "trading", "work",
                  "fill-ids", "start"}


class Step:
    """One line: its verb, its words, what they are called by, and the status it must get."""

    def __init__(self, place, verb, words, status):
        self.place, self.verb, self.status = place, verb, status
        self.words = [word for word in words if not is_option(word)]
        self.options = dict(word.split("=", 1) for word in words if is_option(word))
        self.items = []

    def __str__(self):
        return f"{self.place}: {self.verb}"


def is_option(word):
    return re.match(r"[a-z][a-z\[\]0-9_-]*=", word) is not None


class Scenario:
    def __init__(self, place, name):
        self.place, self.name = place, name
        self.config, self.clock, self.steps = {}, None, []
        self.engine_only = None  # or why it cannot be seen over HTTP


def words_of(line):
    return line.split("#", 1)[0].split()


def add_line(scenario, place, words):
    verb, rest = words[0], words[1:]
    if verb == "config":
        scenario.config.update(word.split("=", 1) for word in rest)
    elif verb == "clock":
        scenario.clock = rest[0]
    elif verb == "engine-only":
        scenario.engine_only = " ".join(rest)
    elif verb in WITHOUT_STATUS:
        scenario.steps.append(Step(place, verb, rest, None))
    elif verb == "-":
        if not scenario.steps or scenario.steps[-1].verb != "batch":
            raise Wrong(f"{place}: an item without its batch")
        scenario.steps[-1].items.append(Step(place, rest[0], rest[1:-1], rest[-1]))
    elif verb in COMMANDS:
        if not rest:
            raise Wrong(f"{place}: {verb} alone")
        scenario.steps.append(Step(place, verb, rest[:-1], rest[-1]))
    else:
        raise Wrong(f"{place}: no such command: {verb}")


def read(path):
    """The scenarios of a file."""
    scenarios, names = [], set()
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        words, place = words_of(line), f"{pathlib.Path(path).name}:{number}"
        if not words:
            continue
        if words[0] == "scenario":
            name = " ".join(words[1:])
            if not name or name in names:
                raise Wrong(f"{place}: a scenario without a name of its own")
            names.add(name)
            scenarios.append(Scenario(place, name))
        elif not scenarios:
            raise Wrong(f"{place}: a line before the first scenario")
        else:
            add_line(scenarios[-1], place, words)
    return scenarios


def files(folder):
    return sorted(pathlib.Path(folder).glob("*.script"))
