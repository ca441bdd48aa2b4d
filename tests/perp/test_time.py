"""test_time.py BUILD - perp time: offset, uncertainty, verdict and exit code."""
import json
import sys
import time

from fake import Exchange, Perp, check

perp = Perp(sys.argv[1])
exchange = Exchange()
exchange.answers["/api/v1/exchange"] = (200, {"request_id_window_ms": {"past": 30000,
                                                                       "future": 5000}})


def shifted(offset_s, delays_s=()):
    """The exchange's clock is offset_s ahead; each answer takes the next of the delays."""
    left = list(delays_s)

    def answer():
        delay = left.pop(0) if left else 0
        time.sleep(delay / 2)
        now = time.time_ns() + int(offset_s * 1e9)
        time.sleep(delay / 2)
        return {"time_ms": now // 10**6, "time_ns": now}
    exchange.answers["/api/v1/time"] = (200, answer)


def measure(code, *flags):
    done = perp.run("time", "--url", exchange.url, "-o", "json", *flags, code=code)
    return json.loads(done.stdout), done.stderr


# The window: an id is taken from 30 s behind to 5 s ahead (W5). Offset = exchange minus here, so
# this clock is ahead when it is negative. Half of the way to an edge is drifting.
rows = [  # offset s, exit code, verdict
    (0, 0, "ok"), (-2, 0, "ok"), (-3, 6, "drifting"), (-4.5, 6, "drifting"), (-5.5, 7, "refused"),
    (14, 0, "ok"), (16, 6, "drifting"), (29, 6, "drifting"), (31, 7, "refused"),
    (-86400, 7, "refused"), (86400, 7, "refused"),
]
for offset, code, verdict in rows:
    shifted(offset)
    answer, said = measure(code)
    check(answer["verdict"] == verdict, offset, answer)
    check(abs(answer["offset_ns"] - offset * 10**9) <= answer["uncertainty_ns"], offset, answer)
    check(answer["window_past_ms"] == 30000 and answer["window_future_ms"] == 5000)
    check((said == "") == (verdict == "ok"), said)

# The sample of the shortest round trip decides; the uncertainty is half of it.
# On a busy machine the shortest may have been long for once; any other is so in each attempt.
for _ in range(10):
    shifted(1, [0.4, 0.4, 0.05, 0.4])
    answer, _ = measure(0, "--count", "4")
    if answer["round_trip_ns"] < 300e6:
        break
check(answer["samples"] == 4 and 50e6 <= answer["round_trip_ns"] < 300e6, answer)
check(answer["uncertainty_ns"] == answer["round_trip_ns"] // 2)
check(abs(answer["offset_ns"] - 10**9) <= answer["uncertainty_ns"], answer)
check(sum(target == "/api/v1/time" for _, target, *_ in exchange.seen[-4:]) == 4)

# A line so slow that the clock cannot be told apart from a drifting one is not called ok.
exchange.answers["/api/v1/exchange"] = (200, {"request_id_window_ms": {"past": 1000,
                                                                       "future": 100}})
shifted(0, [0.3])
check(measure(6, "--count", "1")[0]["verdict"] == "drifting")

# People see names and values; an exchange without the window cannot be judged.
shifted(0)
exchange.answers["/api/v1/exchange"] = (200, {"request_id_window_ms": {"past": 30000,
                                                                       "future": 5000}})
lines = perp.run("time", "--url", exchange.url).stdout.splitlines()
check(any(line.split() == ["verdict", "ok"] for line in lines), lines)
exchange.answers["/api/v1/exchange"] = (200, {})
check("request_id_window_ms" in perp.run("time", "--url", exchange.url, code=3).stderr)
