"""test_pair.py BUILD - perp pair: a device that is logged in brings a new one in (wire.md W7). What
people compare is checked apart from perp; a wrong code admits nobody."""
import base64
import hashlib
import json
import subprocess
import sys
import threading
import urllib.request

from fake import check
from house import House

house = House(sys.argv[1])
perp, folder = house.perp, house.folder
DIGITS = "23456789abcdefghijkmnpqrstuvwxyz"


def begin(*words):
    return subprocess.Popen([perp.program, *words, "--url", house.url, "-o", "json"], cwd=folder,
                            env=perp.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def line_with(process, words, end="\n"):
    """What the process writes on standard error up to a line that has the words."""
    text = ""
    while words not in text or not text.endswith(end):
        letter = process.stderr.read(1)
        check(letter != "", text)
        text += letter
    return text


def ended(process, code, words=None):
    timer = threading.Timer(200, process.kill)
    timer.start()
    out, error = process.communicate(words)
    timer.cancel()
    check(process.returncode == code, process.returncode, out, error)
    return out, error


def request(method, path, headers, body=None):
    data = None if body is None else json.dumps(body).encode()
    asked = urllib.request.Request(house.url + path, data, headers, method=method)
    with urllib.request.urlopen(asked, timeout=200) as answer:
        return json.load(answer)


def invite(*words):
    """A pairing that has been opened; what joins it."""
    process = begin("pair", "invite", "--profile", "a", *words)
    said = line_with(process, "perp pair join")
    return process, said.split("perp pair join '")[1].split("'")[0]


def sessions():
    return house.client("session", "list")


house.start()
try:
    house.client("account", "create", "--save")
    house.client("apikey", "create", "--scope", "READ_WRITE", "--save")
    house.client("login", "--save")
    device = next(line.split(" = ")[1] for line in (
        folder / ".config/perp/config").read_text().splitlines() if line.startswith("device_key"))
    account = house.client("account", "show")["account_id"]

    # The whole of it: the code is of the keys that are at perpd; the new device trades.
    inviting, code = invite("--scope", "TRADING_ONLY", "--pin", "0")
    joining = begin("pair", "join", code, "--profile", "new", "--save", "--session-key",
                    "new.session")
    shown = line_with(joining, "type this code").split(": ")[1].strip()
    at = f"/api/v1/device-pairing/{code[:36]}"
    deposited = request("GET", at, {"X-DEVICE-KEY": device})
    check(deposited["status"] == "DEPOSITED", deposited)
    digest = hashlib.sha256(b"perp pair 1" + bytes.fromhex(code[:36].replace("-", "")) +
                            base64.b64decode(deposited["ecdh_pub"]) +
                            base64.b64decode(deposited["session_pub"])).digest()
    letters = "".join(DIGITS[byte % 32] for byte in digest[:12])
    check(shown == f"{letters[:4]}-{letters[4:8]}-{letters[8:]}", shown, letters)
    check(deposited["session_pub"] == json.loads(perp.run(
        "keys", "show", "new.session", "-o", "json").stdout)["public_key"])
    line_with(inviting, "code that the new device shows: ", " ")
    out, _ = ended(inviting, 0, shown.upper().replace("-", " ") + "\n")
    check(json.loads(out)["message"] == "session_created", out)
    out, error = ended(joining, 0)
    check(json.loads(out) == {"session_public_key": deposited["session_pub"],
                              "account_id": account} and "saved in" in error, out, error)
    live = sessions()
    check((live[0]["session_public_key"], live[0]["scope"], live[0]["subaccount_index"]) ==
          (deposited["session_pub"], "TRADING_ONLY", 0), live)
    check(house.client("cancel-all", who="new")["status"] == "request_completed")
    check("exchange = " in (folder / "new.session").read_text())

    # Another code is typed: nothing is signed, and the new device learns nothing.
    inviting, code = invite()
    joining = begin("pair", "join", code, "--session-key", "other.session")
    shown = line_with(joining, "type this code").split(": ")[1].strip()
    line_with(inviting, "code that the new device shows: ", " ")
    wrong = ("3" if shown[0] == "2" else "2") + shown[1:]
    _, error = ended(inviting, 1, wrong + "\n")
    check("nothing was signed" in error, error)
    check(sessions() == live)
    # What was not sealed for it is refused.
    request("POST", f"/api/v1/device-pairing/{code[:36]}/complete", {
        "X-DEVICE-KEY": device, "Content-Type": "application/json"},
        {"ciphertext": base64.b64encode(bytes(100)).decode()})
    _, error = ended(joining, 3)
    check("not sealed for this one" in error, error)

    # Wrong lines; a code twice.
    check("is not what 'perp pair invite' printed" in perp.run(
        "pair", "join", code[:-1], "--url", house.url, "--session-key", "x", code=2).stderr)
    check(not (folder / "x").exists())
    check("pairing_already_used" in perp.run("pair", "join", code, "--url", house.url,
                                             "--session-key", "x.session", code=3).stderr)
    perp.run("keys", "new", "secp256k1", "b.master")
    check("perp login makes one" in perp.run("pair", "invite", "--url", house.url, "--profile", "b",
                                             "--account", "7", code=2).stderr)
    check(house.stop() == 0)
finally:
    house.kill()
print("a device was paired")
