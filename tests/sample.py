"""sample.py - which of a script's many cases a run takes: the words and the rule of sample.h."""
import os


class Sample:
    """Reads the environment and prints the sample, so that a failure can be repeated."""

    def __init__(self, name="PERPD_SAMPLE"):
        self.step, self.offset = int(os.environ.get(name, "1")), 0
        assert self.step > 0
        if self.step > 1:
            seed = int(os.environ.get("PERPD_SAMPLE_SEED", "0"), 16)
            turn = int(os.environ.get("PERPD_SAMPLE_TURN", "0"))
            self.offset = (seed + turn) % self.step
            print(f"sample: {name}={self.step} PERPD_SAMPLE_SEED={self.offset:x}", flush=True)

    def takes(self, number):
        return number % self.step == self.offset
