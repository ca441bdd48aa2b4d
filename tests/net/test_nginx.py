"""test_nginx.py BUILD - perpd's request parser against nginx as a proxy: a request that perpd
takes, nginx takes and passes on with the same method, target and body, and as one request, so that
nobody behind it reads another out of the same bytes (wire.md W10). Requests of the floor must be
taken.

nginx refuses a tab beside the value of a framing header or of Host, which RFC 9110 allows and perpd
takes: it reads nothing else out of it.

Requests are those of test_llhttp.py. nginx passes them to a server of this test that tells what it
got. PERPD_NGINX_CASES: how many mutated requests, 4,000 by default. Skipped without nginx.
"""
import contextlib
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

from test_llhttp import FLOOR, mutated, verdicts

PATIENCE_S = 60
CONFIG = """{1} daemon off; worker_processes 1; pid {0}/pid; error_log {0}/error.log crit;
events {{ worker_connections 64; }}
http {{
  access_log off; keepalive_timeout 10; proxy_ignore_client_abort on; client_max_body_size 1m;
  client_body_temp_path {0}/body; proxy_temp_path {0}/proxy; fastcgi_temp_path {0}/fastcgi;
  uwsgi_temp_path {0}/uwsgi; scgi_temp_path {0}/scgi;
  server {{ listen unix:{0}/front; location / {{ proxy_pass http://unix:{0}/back; }} }}
}}
"""


class Back(threading.Thread):
    """The server behind nginx: reads one request a connection, which nginx has written anew with a
    Content-Length, and keeps what it was."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.listener, self.seen = socket.socket(socket.AF_UNIX), []
        self.listener.bind(path)
        self.listener.listen(64)

    def run(self):
        while True:
            connection, _ = self.listener.accept()
            with connection, connection.makefile("rb") as file:
                method, target, _ = file.readline().split(b" ", 2)
                length = 0
                while (line := file.readline().strip()):
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                assert len(file.read(length)) == length
                self.seen.append(f"{method.decode()} {target.decode('latin-1')} {length}")
                with contextlib.suppress(OSError):
                    connection.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n")


TAB_BESIDE = re.compile(
    rb"\n(?:content-length|transfer-encoding|host):(?:[ ]*\t|[^\r]*\t[ ]*\r)", re.I)
# What perpd's parser takes and no handler sees: a host that net.hosts does not name (421), also in
# an absolute target, and a path with a percent sign and no digits (400).
REFUSED_LATER = re.compile(rb"\w+ (?:http://(?!x[:/?])|[^ ?]*%(?![0-9a-f]{2}))", re.I)
HOST = re.compile(rb"\r\nhost:[ \t]*x(:\d{1,5})?[ \t]*\r\n", re.I)


def is_served(request):
    return HOST.search(request) and not REFUSED_LATER.match(request)


def path_of(verdict):
    """nginx passes the path of an absolute target on, and the host in Host (RFC 9112, 3.2.2)."""
    return re.sub(r"^(\w+) (?i:http)://[^/? ]*/", r"\1 /", verdict)


def listens(path):
    """A socket is there before it listens."""
    with socket.socket(socket.AF_UNIX) as front:
        return front.connect_ex(path) == 0


def main():
    # Debian has it where a user's PATH does not look.
    nginx = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if nginx is None:
        print("skipped: nginx is not installed (tools/setup --browser)")
        return 77
    seed = int(os.environ.get("PERPD_SEED", random.randrange(2**32)))
    rng = random.Random(seed)
    count = int(os.environ.get("PERPD_NGINX_CASES", 4_000))
    requests = [request for request, _ in FLOOR] + [mutated(rng) for _ in range(count)]
    ours = verdicts([os.path.join(sys.argv[1], "tests", "http_head")], requests)
    wrong = [f"{request!r}: perpd does not take it" for request, our in zip(
        requests[:len(FLOOR)], ours) if our == "no"]
    taken = 0
    with tempfile.TemporaryDirectory(prefix="perpd-nginx-", dir="/tmp") as folder:
        (pathlib.Path(folder) / "nginx.conf").write_text(CONFIG.format(
            folder, "user root;" if os.geteuid() == 0 else ""))
        back = Back(f"{folder}/back")
        back.start()
        process = subprocess.Popen([nginx, "-p", folder, "-c", f"{folder}/nginx.conf",
                                    "-e", f"{folder}/error.log"], stderr=subprocess.DEVNULL)
        try:
            until = time.monotonic() + PATIENCE_S
            while not listens(f"{folder}/front") and time.monotonic() < until:
                time.sleep(0.01)
            for request, our in zip(requests, ours):
                if our == "no" or not is_served(request) or TAB_BESIDE.search(request):
                    continue
                taken += 1
                back.seen.clear()
                with socket.socket(socket.AF_UNIX) as front:
                    front.settimeout(PATIENCE_S)
                    front.connect(f"{folder}/front")
                    front.sendall(request)
                    front.shutdown(socket.SHUT_WR)
                    answer = b""
                    while data := front.recv(4096):
                        answer += data
                if back.seen != [path_of(our)]:
                    said = answer.split(b"\r")[0]
                    wrong.append(f"{request!r}: perpd {our!r}, nginx {back.seen}, {said!r}")
        finally:
            process.terminate()
            process.wait()
    print(*wrong[:20], sep="\n")
    print(f"seed {seed}: {len(requests)} requests, {taken} taken, {len(wrong)} read differently")
    return 1 if wrong or taken < len(requests) // 40 else 0


if __name__ == "__main__":
    sys.exit(main())
