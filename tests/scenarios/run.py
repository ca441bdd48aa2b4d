"""Scenarios against the exchange: `run.py BUILD [--http] [--only TEXT] [FILE...]`.

Without --http each scenario runs on the engine behind the pipe of tests/model; with it, on a perpd
of its own whose clock stands still but for the script's `wait`, several at a time: they wait more
than they work. PERPD_SAMPLE=N: one scenario in N (tests/sample.py). The last line is "N passed, N
failed"; exit 1 when one failed. --statuses writes the (code, status) pairs met to a file."""
import argparse
import functools
import json
import multiprocessing
import os
import pathlib
import sys

import script
from expectations import Different
from markets import Wrong
from play import Player

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parent))
from sample import Sample


def one(side, scenario):
    """None, or why the scenario failed."""
    try:
        Player(side, scenario).run()
        return None
    except (Different, Wrong, AssertionError) as error:
        if hasattr(side, "give_up"):
            side.give_up()
        return str(error)


@functools.cache
def http_side(build):
    """One a process."""
    from http_side import HttpSide  # pylint: disable=import-outside-toplevel
    return HttpSide(build)


def one_over_http(build, scenario):
    return one(http_side(build), scenario)


def over_http(build, scenarios):
    """Why each failed, in their order."""
    with multiprocessing.Pool(2 * os.cpu_count()) as pool:
        yield from pool.imap(functools.partial(one_over_http, build), scenarios)


def on_the_engine(build, scenarios, statuses):
    from engine_side import EngineSide  # pylint: disable=import-outside-toplevel
    side = EngineSide(build)
    for scenario in scenarios:
        yield one(side, scenario)
    if statuses:
        pathlib.Path(statuses).write_text(json.dumps(sorted(side.met)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--statuses")
    arguments = parser.parse_args()
    scenarios = [scenario for path in arguments.files or script.files(FOLDER)
                 for scenario in script.read(path) if arguments.only in scenario.name]
    visible = [each for each in scenarios if not (arguments.http and each.engine_only)]
    sample = Sample()
    wanted = [each for number, each in enumerate(visible) if sample.takes(number)]
    whys = (over_http(arguments.build, wanted) if arguments.http
            else on_the_engine(arguments.build, wanted, arguments.statuses))
    failed = 0
    for scenario, why in zip(wanted, whys, strict=True):
        if why is not None:
            failed += 1
            print(f"FAILED {scenario.name}\n    {why}", flush=True)
    lines = sum(len(each.steps) for each in wanted)
    print(f"{lines} lines, {len(scenarios) - len(visible)} scenarios of the engine only, "
          f"{len(visible) - len(wanted)} of other runs")
    print(f"{len(wanted) - failed} passed, {failed} failed")
    return 1 if failed or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
