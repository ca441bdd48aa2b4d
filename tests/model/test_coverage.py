#!/usr/bin/env python3
"""test_coverage.py BUILD - a run that met anything once too rarely is not complete: coverage.py."""
import contextlib
import io
import sys
import unittest
from unittest import mock

import coverage
import heavy_model

BUILD = sys.argv[1] if len(sys.argv) > 1 else "build/release"


class Coverage(unittest.TestCase):
    def test_one_short(self):
        for name, least in coverage.REQUIRED.items():
            counts = heavy_model.Counter(coverage.REQUIRED)
            self.assertEqual(coverage.missing(counts, 1), [])
            counts[name] = least - 1
            self.assertEqual(coverage.missing(counts, 1),
                             [f"{name}: {least - 1} times, at least {least} wanted"])

    def test_part(self):
        counts = heavy_model.Counter({name: least // 20 for name, least in
                                      coverage.REQUIRED.items()})
        self.assertEqual(coverage.missing(counts, 0.1), [])
        counts["netting"] -= 1
        self.assertEqual(coverage.missing(counts, 0.1),
                         ["netting: 49 times, at least 50 wanted"])

    def run_main(self, required):
        shown = io.StringIO()
        with (mock.patch.dict(heavy_model.REGIMES, {"calm": {}}, clear=True),
              mock.patch.object(coverage, "REQUIRED", required),
              mock.patch.object(heavy_model, "WANTED_FROM", 2000),
              mock.patch.object(heavy_model, "WHOLE", 2000),
              mock.patch.object(sys, "argv", ["heavy_model.py", BUILD, "--commands", "2000",
                                              "--processes", "1"]),
              contextlib.redirect_stdout(shown)):
            return heavy_model.main(), shown.getvalue()

    def test_run(self):
        code, shown = self.run_main({"accepted GTC": 100})
        self.assertEqual(code, 0, shown)
        code, shown = self.run_main({"accepted GTC": 100, "netting": 1})
        self.assertEqual(code, 1, shown)
        self.assertIn("netting: 0 times, at least 1 wanted\n", shown)
        self.assertTrue(shown.endswith("commands in 1 streams: equal, coverage too small\n"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
