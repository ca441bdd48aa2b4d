"""test_doctor.py BUILD - perp doctor: what it makes of /proc and /sys of other machines, and of the
limits and the disk of this one, and its exit code."""
import json
import os
import pathlib
import resource
import sys

from fake import Perp, check

perp = Perp(sys.argv[1])
folder = pathlib.Path(perp.folder)
disk = folder / "disk"
disk.mkdir()
FILES = {
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance",
    "sys/devices/system/cpu/isolated": "2-3",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
    "proc/sys/vm/overcommit_memory": "0",
    "proc/sys/kernel/io_uring_disabled": "0",
    "proc/stat": "cpu  100 0 100 9790 0 0 0 10 0 0",
    "proc/meminfo": "MemTotal: 99 kB\nMemAvailable: 67108864 kB",
}


def examine(changed=(), code=0, env=None, data=disk):
    """name -> row, of a machine with these files; None takes one away."""
    root = folder / "root"
    for name, text in {**FILES, **dict(changed)}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        if text is not None:
            path.write_text(text + "\n")
    done = perp.run("doctor", "--root", root, "--data", data, "-o", "json", code=code,
                    environment=env)
    said = json.loads(done.stdout)
    rows = {row["check"]: row for row in said["checks"]}
    check(len(rows) == len(said["checks"]) == 12, said)
    order = ["ok", "unknown", "slow", "broken"]
    check(said["worst"] == max((row["state"] for row in rows.values()), key=order.index), said)
    for row in rows.values():  # what is slow or broken says what to change; what is well does not
        check(bool(row["advice"]) == (row["state"] in ("slow", "broken")) or
              (row["check"], row["state"]) == ("disk", "unknown"), row)
    return rows


# A machine made for it.
rows = examine()
for name in ("governor", "isolated_cpus", "clock", "huge_pages", "overcommit", "memory", "steal"):
    check(rows[name]["state"] == "ok", rows[name])
check(rows["steal"]["found"].startswith("0.10 %"), rows["steal"])  # 10 of 10,000 ticks
check(not list(disk.iterdir()), "nothing is left in the folder")

# Each fault alone, and what its line must name.
CASES = [  # file, its text, check, state, words of the advice
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave", "governor", "slow",
     "performance"),
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", None, "governor", "unknown", ""),
    ("sys/devices/system/cpu/isolated", "", "isolated_cpus", "slow", "isolcpus"),
    ("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet", "clock", "slow",
     "clocksource=tsc"),
    ("sys/devices/system/clocksource/clocksource0/current_clocksource", None, "clock", "unknown",
     ""),
    ("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]", "huge_pages", "slow",
     "madvise"),
    ("proc/sys/vm/overcommit_memory", "2", "overcommit", "slow", "vm.overcommit_memory=0"),
    ("proc/stat", "cpu  100 0 100 9590 0 0 0 210 0 0", "steal", "slow", "dedicated"),
    ("proc/stat", "cpu one", "steal", "unknown", ""),
    ("proc/meminfo", "MemAvailable: 1024 kB", "memory", "broken", "engine.orders"),
    ("proc/meminfo", None, "memory", "unknown", ""),
    ("proc/sys/kernel/io_uring_disabled", "2", "io_uring", "broken", "kernel.io_uring_disabled=0"),
]
for name, text, what, state, words in CASES:
    row = examine({name: text}, code=int(state == "broken"))[what]
    check(row["state"] == state and words in row["advice"], name, text, row)


def engine_mib(rows):
    return int(rows["memory"]["found"].split("engines of ")[1].split()[0])


# The memory is that of the options which a perpd here would have.
rows = examine()
more = examine(env={"PERPD_ENGINE_ORDERS": "16777216"})
check(engine_mib(more) > engine_mib(rows) + 500, more["memory"], rows["memory"])
wrong = perp.run("doctor", code=2, environment={"PERPD_ENGINE_ORDERS": "many"})
check("engine.orders" in wrong.stderr, wrong.stderr)

# A folder in memory, one that is not there, and few descriptors.
if os.path.ismount("/dev/shm"):
    row = examine(data="/dev/shm", code=1)["disk"]
    check(row["state"] == "broken" and "memory" in row["found"], row)
row = examine(data=folder / "nowhere")["disk"]
check(row["state"] == "unknown" and "--data" in row["advice"], row)
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (512, 1024))
row = examine()["descriptors"]
check((row["state"], row["found"]) == ("slow", "1024") and "LimitNOFILE" in row["advice"], row)

# For people: at most 80 columns, the state first.
lines = perp.run("doctor", "--data", disk).stdout.splitlines()
check(all(len(line) <= 80 for line in lines), lines)
check(sum(line[:1] != " " for line in lines) == 12, lines)
