"""relay.py - programs that stand in for perpd beside perp-demo, and are not honest.

PERPD is replaced by the path of the real one before they are written to a file.
"""

# Passes everything on, but lies on the listener that the file `lie` beside it names: admin or
# public. Answers of the public one are changed in place, by as many bytes.
RELAY = r'''#!/usr/bin/env python3
import decimal, http.server, json, os, re, signal, socket, subprocess, sys, threading
import urllib.request
lie = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "lie")).read().strip()
LIES = [(rb'"liquidity":"MAKER"', rb'"liquidity":"TAKER"'),
        (rb'("(?:LONG|SHORT)","size":")([1-9])',
         lambda found: found[1] + str(int(found[2]) % 9 + 1).encode()),
        (rb'"order_status":"CANCELED"', rb'"order_status":"REJECTED"')]
arguments, mine, real, child = [], {}, {}, None

sys.path.append("TESTS/..")
from ports import free_port

for word in sys.argv[1:]:
    for name in ("net", "admin"):
        if word.startswith(f"--{name}.listen="):
            mine[name] = int(word.rsplit(":", 1)[1])
            real[name] = free_port()
            word = f"--{name}.listen=127.0.0.1:{real[name]}"
    arguments.append(word)

class Relay(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *_):
        pass
    def do_GET(self):
        url = f"http://127.0.0.1:{real['admin']}{self.path}"
        token = {"Authorization": self.headers.get("Authorization", "")}
        body = urllib.request.urlopen(urllib.request.Request(url, headers=token)).read().decode()
        if self.path == "/audit":
            audit = json.loads(body)
            if lie == "admin":
                fees = decimal.Decimal(audit["totals"]["fee_account"])
                audit["totals"]["fee_account"] = str(fees + decimal.Decimal("0.000001"))
                audit["markets"][0]["size_sum"] = "0.00001"
                audit["i6"] = False
            body = json.dumps(audit)
        if self.path == "/metrics" and lie == "admin":
            body = "\n".join(line for line in body.split("\n") if 'stage="matched"' not in line)
        data = body.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

def pump(source, target, lying):
    """A lie whose words two reads divide is left out: there are more of them."""
    try:
        while data := source.recv(65536):
            for old, new in LIES if lying else []:
                data = re.sub(old, new, data)
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

def accept(listener):
    while True:
        client, _ = listener.accept()
        server = socket.create_connection(("127.0.0.1", real["net"]))
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=pump, args=(client, server, False), daemon=True).start()
        threading.Thread(target=pump, args=(server, client, lie == "public"), daemon=True).start()

child = subprocess.Popen(["PERPD", *arguments], stdout=subprocess.PIPE, text=True)
signal.signal(signal.SIGTERM, lambda *_: child.terminate())
threading.Thread(target=accept, args=(socket.create_server(("127.0.0.1", mine["net"])),),
                 daemon=True).start()
threading.Thread(target=http.server.ThreadingHTTPServer(("127.0.0.1", mine["admin"]),
                 Relay).serve_forever, daemon=True).start()
for line in child.stdout:
    print(line.replace(str(real["net"]), str(mine["net"])), end="", flush=True)
os._exit(child.wait())
'''

# Started again on data, it is not ready for three seconds: takes connections and settles nothing,
# then closes them and becomes the real one.
SLOW = r'''#!/usr/bin/env python3
import json, os, socketserver, sys, threading, time
data, port = (next(word.rsplit(end, 1)[1] for word in sys.argv if word.startswith(name))
              for name, end in (("--store.data=", "="), ("--net.listen=", ":")))

class Answers(socketserver.StreamRequestHandler):
    def handle(self):
        while line := self.rfile.readline():
            count = 0
            while (header := self.rfile.readline().decode().strip().lower()):
                name, value = header.split(":", 1)
                count = int(value) if name == "content-length" else count
            self.rfile.read(count)
            status, answer = 503, {"code": "not_ready", "detail": "recovering"}
            if line.startswith(b"POST"):
                status, answer = 200, {"status": "retry_required", "processed_at_ns": 1}
            body = json.dumps(answer).encode()
            self.wfile.write(f"HTTP/1.1 {status} X\\r\\nContent-Type: application/json\\r\\n"
                             f"Content-Length: {len(body)}\\r\\n\\r\\n".encode() + body)

class Front(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

if os.path.exists(os.path.join(data, "journal", "0000000000.seg")):
    front = Front(("127.0.0.1", int(port)), Answers)
    threading.Thread(target=front.serve_forever, daemon=True).start()
    time.sleep(3)
os.execv("PERPD", ["PERPD", *sys.argv[1:]])
'''

# Started again on data, it first forgets the last quarter of its frames, and so does its witness.
FORGETFUL = r'''#!/usr/bin/env python3
import os, pathlib, sys
sys.path.insert(0, "TESTS")
from journal_reader import Directory, blake
data = next(word.split("=", 1)[1] for word in sys.argv if word.startswith("--store.data="))
if os.path.exists(os.path.join(data, "journal")):
    directory = Directory(pathlib.Path(data))
    kept = len(directory.frames) * 3 // 4
    for frame in directory.frames[kept:]:
        directory.put(frame.segment, frame.offset, bytes(frame.length))
    last = directory.frames[kept - 1]
    directory.name_in_witness(last, blake(last.data))
os.execv("PERPD", ["PERPD", *sys.argv[1:]])
'''
