"""Scenarios against the exchange: `run.py BUILD [--http] [--only TEXT] [FILE...]`.

Without --http each scenario runs on the engine behind the pipe of tests/model; with it, on a perpd
of its own whose clock stands still but for the script's `wait`. The last line is "N passed, N
failed"; exit 1 when one failed. --statuses writes the (code, status) pairs met to a file."""
import argparse
import json
import pathlib
import sys

import script
from expectations import Different
from markets import Wrong
from play import Player

FOLDER = pathlib.Path(__file__).resolve().parent


def one(side, scenario):
    """None, or why the scenario failed."""
    try:
        Player(side, scenario).run()
        return None
    except (Different, Wrong, AssertionError) as error:
        if hasattr(side, "give_up"):
            side.give_up()
        return str(error)


def side_of(arguments):
    if arguments.http:
        from http_side import HttpSide  # pylint: disable=import-outside-toplevel
        return HttpSide(arguments.build)
    from engine_side import EngineSide  # pylint: disable=import-outside-toplevel
    return EngineSide(arguments.build)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--statuses")
    arguments = parser.parse_args()
    side, passed, failed, skipped, lines = side_of(arguments), 0, 0, 0, 0
    for path in arguments.files or script.files(FOLDER):
        for scenario in script.read(path):
            if arguments.only not in scenario.name:
                continue
            if arguments.http and scenario.engine_only:
                skipped += 1
                continue
            lines += len(scenario.steps)
            why = one(side, scenario)
            passed, failed = passed + (why is None), failed + (why is not None)
            if why is not None:
                print(f"FAILED {scenario.name}\n    {why}")
    if arguments.statuses:
        pathlib.Path(arguments.statuses).write_text(json.dumps(sorted(side.met)))
    print(f"{lines} lines, {skipped} scenarios of the engine only")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
