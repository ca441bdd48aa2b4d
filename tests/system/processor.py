"""processor.py - what running processes take of the processors."""
import os
import pathlib


def processor_s(process):
    """The processor time that a running process has had."""
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
