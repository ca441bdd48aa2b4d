"""test_follow.py BUILD - perp backup on a running exchange (journal.md, Backup): from the first
record on, frame by frame beside a kill -9, across a start, and what it does with answers that lie.
"""
import base64
import http.server
import json
import pathlib
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

from fake import check
from house import House
from journal_reader import Directory, blake
from ports import free_port

build = pathlib.Path(sys.argv[1]).resolve()
WAIT_S = 100


class Followed(House):
    """Its admin listener is at the same place after each start."""
    port = free_port()

    def arguments(self, data, *options):
        return [f"--admin.listen=127.0.0.1:{self.port}" if str(word).startswith("--admin.listen=")
                else word for word in super().arguments(data, *options)]


house = Followed(build)
admin = f"http://127.0.0.1:{house.port}"


def ask(target, method="GET", url=admin, token=True):
    """Status and JSON."""
    headers = {}
    if token:
        headers["Authorization"] = "Bearer " + (house.data / "admin.token").read_text()[:64]
    request = urllib.request.Request(url + target, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def wait(look):
    until = time.monotonic() + WAIT_S
    while not look() and time.monotonic() < until:
        time.sleep(0.02)
    check(look())


def backup(name, *words, code=0, url=admin):
    done = house.perp.run("backup", house.folder / name, "--data", house.data, "--admin-url", url,
                          "-o", "json", *words, code=code)
    return json.loads(done.stdout) if code == 0 else done.stderr


def same_frames(copy, count):
    """The copy's frames are the first `count` of the exchange's, byte by byte, at their places."""
    ours, theirs = Directory(copy).frames, Directory(house.data).frames
    check(len(ours) == count <= len(theirs), len(ours), count, len(theirs))
    check([(f.segment, f.offset, f.data) for f in ours] ==
          [(f.segment, f.offset, f.data) for f in theirs[:count]])


# The doors: the token, the bounds, what is not there yet.
house.start()
house.open_accounts()
house.trade(2)
for target, method in (("/admin/frames?from=1", "GET"), ("/admin/seal", "POST")):
    check(ask(target, method, token=False)[0] == 401)
    check(ask(target, method, url=house.url)[0] == 404, "on the admin listener only")
check(ask("/admin/seal")[0] == 405 and ask("/admin/frames?from=1", "POST")[0] == 405)
for bad in ("", "?from=0", "?from=x", "?from=-1", "?from=1&skip=x", "?from=1&skip=1048577"):
    code, body = ask("/admin/frames" + bad)
    check(code == 400 and body["code"] == "invalid_parameter", bad, body)
code, first = ask("/admin/frames?from=1")
check(code == 200 and (first["first_frame"], first["segment"], first["offset"]) == (1, 0, 4096))
given = base64.b64decode(first["bytes"], validate=True)
frames = [f for f in Directory(house.data).frames if f.number <= first["last_frame"]]
check(given == b"".join(f.data for f in frames) and first["last_sequence"] == frames[-1].last)
check(first["first_length"] == frames[0].length and first["boot"] == 1)
second = base64.b64decode(ask("/admin/frames?from=2")[1]["bytes"])
check(second.startswith(b"".join(f.data for f in frames[1:])), "from the second on")
piece = ask("/admin/frames?from=2&skip=100")[1]
check(base64.b64decode(piece["bytes"]) == frames[1].data[100:] and piece["last_frame"] == 2)
check(ask(f"/admin/frames?from=2&skip={frames[1].length}")[0] == 404)
for far in (10**6, 2**64 - 1):
    code, none = ask(f"/admin/frames?from={far}")
    check(code == 200 and none["bytes"] == "" and none["last_frame"] == far - 1, none)

# From the first record on: the open segment is sealed, and what follows is in the next.
open_before = Directory(house.data).frames[-1].segment
young = backup("young")


def sealed():
    """It waits for two prepared segments and a frame."""
    house.client("order", "BTC-PERP", "buy", "0.01", "97000")
    return Directory(house.data).frames[-1].segment == open_before + 1


wait(sealed)
copy = house.folder / "young"
same_frames(copy, young["frame"])
end = Directory(copy).frames[-1]
check((end.last, blake(end.data).hex()) == (young["sequence"], young["frame_hash"]))
check(house.store("audit", "signatures", data=copy)["passed"])
check(house.store("replay", "--diff", copy, "--to", young["sequence"])["equal_to"] ==
      young["sequence"])
check("holds files already" in backup("young", code=3))
# Heads that cannot be read are no heads that are not there.
(house.data / "heads").rename(house.data / "heads.kept")
at_s = int(time.time()) + 700
for text, code, said in ((at_s, 0, {"maintenance_at_ns": at_s * 10 ** 9}), ("none", 0, {}),
                         (at_s - 600, 1, "10 minutes"), ("soon", 2, "no time")):
    done = house.perp.run("maintenance", str(text), "--data", house.data, "--admin-url", admin,
                          "-o", "json", code=code)
    check(json.loads(done.stdout) == said if code == 0 else said in done.stderr, done)
try:
    (house.data / "heads").mkdir()
except FileExistsError:  # perpd has signed a head since
    (house.data / "heads").unlink()
    (house.data / "heads").mkdir()
check("heads" in backup("headless", code=3))
(house.data / "heads").rmdir()
(house.data / "heads.kept").rename(house.data / "heads")
check((copy / "signing.key").stat().st_mode & 0o777 == 0o600)
check((copy / "exchange").stat().st_mode & 0o777 == 0o600)

# Beside a kill -9: at most the last frame is missing. Then a start, and it goes on.
follower = subprocess.Popen([build / "perp", "backup", house.folder / "kept", "--data", house.data,
                             "--admin-url", admin, "--follow", "-o", "json"], text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
copy = house.folder / "kept"
try:
    first = json.loads(follower.stdout.readline())  # the copy is there: now it follows
    for kills in (1, 2):
        house.trade(4)
        acked = [house.client("order", "BTC-PERP", "buy", "0.01", "98000")["sequence"]
                 for _ in range(5)]
        house.stop(signal.SIGKILL)
        have = Directory(copy).frames
        behind = [f for f in Directory(house.data).frames if f.number > have[-1].number]
        lost = [s for s in acked if s > have[-1].last]
        check(len(behind) <= 1 and len(lost) <= 1, have[-1].number, behind, lost)
        house.start()
    house.trade(1)
    check(house.stop() == 0)
    final = Directory(house.data).frames[-1]
    house.start()  # which writes frames after the closing one
    wait(lambda: Directory(copy).frames[-1].number > final.number)
    follower.send_signal(signal.SIGTERM)
    out, err = follower.communicate(timeout=WAIT_S)
    check(follower.returncode == 0 and err == "", err)
finally:
    follower.kill()
kept = json.loads(out)
same_frames(copy, kept["frame"])
check(kept["frame"] > final.number and {f.boot for f in Directory(copy).frames} == {1, 2, 3, 4})
check(house.store("audit", "signatures", data=copy)["passed"])
check(0 < kept["head_frame"] <= kept["frame"], kept)


# Answers that lie: a frame is changed, left out, comes twice, or from elsewhere.
class Liar(http.server.BaseHTTPRequestHandler):
    lie = None

    def do_GET(self):
        code, body = ask(self.path)
        if code == 200 and body["bytes"]:
            Liar.lie(body)
        text = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_POST(self):
        text = b'{"open_segment":0,"sealed":true}'
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *words):
        pass


def change(body, function):
    body["bytes"] = base64.b64encode(function(base64.b64decode(body["bytes"]))).decode()


def cut_of(data):
    return int.from_bytes(data[80:84], "little")


Liar.protocol_version = "HTTP/1.1"
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar)
threading.Thread(target=server.serve_forever, daemon=True).start()
liar = f"http://127.0.0.1:{server.server_address[1]}"
lies = {
    "a bit": lambda body: change(body, lambda d: d[:300] + bytes([d[300] ^ 1]) + d[301:]),
    "the first left out": lambda body: change(body, lambda d: d[cut_of(d):]),
    "the first twice": lambda body: change(body, lambda d: d[:cut_of(d)] + d),
    "cut short": lambda body: change(body, lambda d: d[:-8]),
    "another segment": lambda body: body.update(segment=body["segment"] + 1),
    "over the end": lambda body: body.update(offset=2**40),
    "no bytes": lambda body: body.update(bytes="*"),
    "no offset": lambda body: body.pop("offset"),
}
for number, (name, lie) in enumerate(lies.items()):
    Liar.lie = lie
    said = backup(f"lie{number}", code=1, url=liar)
    check("of the exchange" in said and not (house.folder / f"lie{number}" / "witness").exists(),
          name, said)
Liar.lie = lambda body: None
check(backup("honest", url=liar)["frame"] >= kept["frame"])
house.stop()
print("ok")
