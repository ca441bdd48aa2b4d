#!/usr/bin/env python3
"""nightly_record.py FILE ROW SIZE VERDICT DATE COMMIT PROCESSOR LOAD SECONDS - puts the result of
one row of tools/nightly into the table of FILE between the two markers, in the order of --list; a
row that was never recorded says so.

nightly_record.py FILE --rows: makes the table have exactly the rows of tools/nightly --list.
"""
import pathlib
import re
import subprocess
import sys

BEGIN, END = "<!-- last results: tools/nightly --record -->", "<!-- end of last results -->"
HEAD = ["row", "size", "verdict", "date", "commit", "processor", "load", "seconds"]
NOT_RUN = ["not run yet"] + [""] * (len(HEAD) - 3)


def rows_of_nightly():
    """(row, size) of each row, in order."""
    listed = subprocess.run([pathlib.Path(__file__).with_name("nightly"), "--list"], check=True,
                            capture_output=True, text=True).stdout
    return [re.match(r"(\w+) \((.*?)\): ", line).groups() for line in listed.splitlines()]


def read(text):
    """Row -> its cells, of the table between the markers."""
    table = text[text.index(BEGIN) + len(BEGIN):text.index(END)]
    lines = [line for line in table.splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0].strip("`"): row[1:] for row in cells}


def write(text, results):
    def line(cells):
        return "| " + " | ".join(cells) + " |"

    table = [line(HEAD), "|" + "---|" * len(HEAD)]
    for row, size in rows_of_nightly():
        table.append(line([f"`{row}`"] + results.get(row, [size] + NOT_RUN)))
    return (text[:text.index(BEGIN) + len(BEGIN)] + "\n\n" + "\n".join(table) + "\n\n"
            + text[text.index(END):])


def main():
    path = pathlib.Path(sys.argv[1])
    text = path.read_text()
    results = read(text)
    if sys.argv[2] != "--rows":
        row, *cells = sys.argv[2:]
        if len(cells) != len(HEAD) - 1 or any("|" in cell for cell in cells):
            sys.exit(f"nightly_record.py: no result of a row: {cells}")
        results[row] = cells
    path.write_text(write(text, results))


if __name__ == "__main__":
    main()
