"""test_histogram.py BUILD - hdr-histogram-js reads the histogram log that perp bench writes: the
same counts and percentiles as in result.json."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import packages

packages.skip_without("hdr-histogram-js")
build = pathlib.Path(sys.argv[1]).resolve()
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([build / "perp", "bench", "run", "--rate", "100", "--seconds", "1", "--warm-up",
                    "0", "--pipeline", "4", "--results", "R"], cwd=folder, check=True, timeout=200,
                   stdout=subprocess.DEVNULL, env={**os.environ, "HOME": folder})
    figures = json.loads((pathlib.Path(folder) / "R/result.json").read_text())["passes"][0]
    read = json.loads(packages.run("histogram.mjs", pathlib.Path(folder) / "R/latency.hlog"))
assert set(read) == {"latency", "service"}, read
for tag, row in read.items():
    own = figures[f"{tag}_us"]
    assert row["count"] == own["count"] == 100, (tag, row, own)
    for name in ("p50", "p99", "max"):  # it shows the greatest value of a class, of 0.1 %
        assert abs(row[name] / 1e3 - own[name]) <= own[name] / 900 + 0.002, (tag, name, row, own)
