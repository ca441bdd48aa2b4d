"""test_console.py - the web console as it is served (console.md): its pages and files, what each
answer tells browsers, which coding it comes in, what a client that has it gets.
"""
import gzip
import hashlib
import pathlib
import re
import subprocess
import sys

import client
from client import Perpd, request_bytes
from harness import Suite, Table, perpd_program
from world import run

suite = Suite("console")
DIST = pathlib.Path(__file__).resolve().parents[2] / "web/dist"
PAGE = (DIST / "index.html").read_bytes()
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
          "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
          "require-trusted-types-for 'script'; trusted-types 'none'")
PERMISSIONS = ("publickey-credentials-get=(self), publickey-credentials-create=(self), "
               "clipboard-write=(self), fullscreen=(self), camera=(), microphone=(), "
               "geolocation=(), payment=(), usb=(), serial=(), hid=(), bluetooth=()")
OF_BOTH = {"vary": "Accept-Encoding", "cross-origin-embedder-policy": "require-corp",
           "cross-origin-resource-policy": "same-origin", "x-content-type-options": "nosniff",
           "referrer-policy": "no-referrer", "strict-transport-security": None}
OF_PAGES = {**OF_BOTH, "cache-control": "no-cache", "content-security-policy": POLICY,
            "cross-origin-opener-policy": "same-origin", "permissions-policy": PERMISSIONS}
OF_FILES = {**OF_BOTH, "cache-control": "public, max-age=31536000, immutable",
            "content-security-policy": None}
MEDIA = {"html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
         "css": "text/css; charset=utf-8", "svg": "image/svg+xml",
         "txt": "text/plain; charset=utf-8"}
END = {None: "", "gzip": "-gz", "br": "-br"}


class World:
    def __init__(self, exchange):
        self.exchange = exchange


def get(world, path, *headers, method="GET", host="localhost"):
    return world.exchange.raw(request_bytes(method, path, None, (("Host", host), *headers),
                                            host=False))


def decoded(response):
    coding = response.header("content-encoding")
    if coding == "gzip":
        return gzip.decompress(response.body)
    if coding == "br":
        return subprocess.run(["brotli", "-dc"], input=response.body, check=True,
                              stdout=subprocess.PIPE).stdout
    return response.body


@suite.case
def headers(world):
    """A page may run its own scripts alone, in no frame; a file never changes under its name."""
    table = Table()
    rows = [("/", PAGE, OF_PAGES, "html")]
    rows += [(f"/console/{path.name}", path.read_bytes(), OF_FILES, path.suffix[1:])
             for path in sorted(DIST.iterdir()) if path.suffix != ".html"]
    for path, content, wanted, extension in rows:
        response = get(world, path)
        table.same(path, (response.status, response.body), (200, content))
        for name, value in wanted.items():
            table.same(f"{path} {name}", response.header(name), value)
        table.same(f"{path} type", response.header("content-type"), MEDIA[extension])
        table.same(f"{path} tag", response.header("etag"),
                   f'"{hashlib.sha256(content).hexdigest()[:16]}"')
    table.true("what the page loads is there", all(
        get(world, path).status == 200 for path in re.findall(r'"(/console/[^"]*)"',
                                                              PAGE.decode())), PAGE)
    return table.wrong


@suite.case
def codings(world):
    """Brotli before gzip before plain, as Accept-Encoding lets; the bytes within are the same."""
    table = Table()
    rows = (("br", "br"), ("gzip", "gzip"), ("gzip, br", "br"), ("BR", "br"), ("identity", None),
            ("br;q=0, gzip", "gzip"), ("br;q=0.0,gzip;q=0.000", None), ("br; q=0.001", "br"),
            ("deflate, zstd", None), ("*", None), ("xbr, gzipped", None), ("", None),
            ("gzip;q=1.0,\tbr;q=0", "gzip"))
    for accepted, wanted in rows:
        response = get(world, "/", ("Accept-Encoding", accepted))
        table.same(accepted, response.header("content-encoding"), wanted)
        table.true(f"{accepted}: bytes", decoded(response) == PAGE, response)
        table.true(f"{accepted}: tag", response.header("etag").endswith(END[wanted] + '"'),
                   response.header("etag"))
    twice = get(world, "/", ("Accept-Encoding", "br;q=0"), ("Accept-Encoding", "br"))
    table.same("of two lines none counts", twice.header("content-encoding"), None)
    return table.wrong


@suite.case
def known(world):
    """If-None-Match with the tag of the coding asked for: 304 without a body."""
    table = Table()
    for coding in END:
        accepted = [("Accept-Encoding", coding)] if coding else []
        tag = get(world, "/", *accepted).header("etag")
        for value, status in ((tag, 304), (f'"x", {tag}', 304), (f"W/{tag}", 304), ("*", 304),
                              (tag.strip('"'), 200), ('"x"', 200), ("", 200)):
            response = get(world, "/", ("If-None-Match", value), *accepted)
            table.same(f"{coding} {value}", response.status, status)
            if status == 304:
                table.same(f"{coding} {value}: no body", (response.body, response.header("etag"),
                           response.header("content-length")), (b"", tag, None))
    plain = get(world, "/").header("etag")
    table.same("the tag of another coding",
               get(world, "/", ("If-None-Match", plain), ("Accept-Encoding", "br")).status, 200)
    return table.wrong


@suite.case
def no_such_file(world):
    """What is not embedded is not there, however it is spelled; only GET reads."""
    table = Table()
    for path in ("/console/", "/console", "/console/index.html", "/console/nothing.js", "//",
                 "/console/../", "/console/..%2f..%2fetc/passwd", "/console/%2e%2e/", "/index.html",
                 "/console/a/b", "/console/" + "a" * 300, "/console/%00"):
        table.problem(path, get(world, path), 404, "not_found")
    for path in ("/", "/console/licences.txt"):
        response = get(world, path, method="POST")
        table.problem(f"POST {path}", response, 405, "method_not_allowed")
        table.same(f"POST {path}: Allow", response.header("allow"), "GET, OPTIONS")
    return table.wrong


@suite.case
def passkey_host(_world):
    """Passkeys of localhost are refused to a page of an address: the page is asked for there."""
    table = Table()
    with Perpd(perpd_program(), "--exchange.testnet=on", *client.SMALL_TABLES) as perpd:
        other = World(perpd.exchange)
        port = other.exchange.port
        for host in ("127.0.0.1", "[::1]"):
            response = get(other, "/", host=f"{host}:{port}")
            table.same(host, (response.status, response.header("location"), response.body),
                       (307, f"http://localhost:{port}/", b""))
        for host in (f"localhost:{port}", "127.0.0.1"):
            table.same(host, get(other, "/", host=host).status, 200)
        name = re.search(r"/console/[^\"]*", PAGE.decode())[0]
        table.same("a file", get(other, name, host=f"127.0.0.1:{port}").status, 200)
        table.same("net.latency=auto on a testnet", get(other, "/api/v1/latency").status, 200)
    return table.wrong


@suite.case
def switched_off(_world):
    """net.console=off: the paths do not exist, the interface does. net.latency=off is so on a
    testnet too, but for the operator."""
    table = Table()
    with Perpd(perpd_program(), "--net.console=off", "--net.latency=off", "--exchange.testnet=on",
               *client.SMALL_TABLES) as perpd:
        other = World(perpd.exchange)
        table.problem("/", get(other, "/"), 404, "not_found")
        table.problem("a file", get(other, "/console/licences.txt"), 404, "not_found")
        table.same("/time", get(other, "/api/v1/time").status, 200)
        table.problem("latency", get(other, "/api/v1/latency"), 404, "not_found")
        table.same("the operator's", perpd.exchange.admin("/api/v1/latency").status, 200)
    return table.wrong


@suite.case
def without_files(world):
    """A build without the console: 404 on both listeners; who asks for it by name is refused and
    told what to do."""
    table = Table()
    bare = pathlib.Path(perpd_program()).parent / "tests/perpd_bare"
    with Perpd(bare, *client.SMALL_TABLES) as perpd:
        other = World(perpd.exchange)
        table.problem("/", get(other, "/"), 404, "not_found")
        table.same("/time", get(other, "/api/v1/time").status, 200)
        table.same("the admin listener", perpd.exchange.admin("/").status, 404)
        asked = subprocess.run([*perpd.arguments(), "--net.console=on"], capture_output=True,
                               text=True, timeout=client.PATIENCE_S)
        table.same("exit code", asked.returncode, 2)
        table.true("why", "net.console" in asked.stderr and "-DPERPD_CONSOLE=dist" in asked.stderr,
                   asked.stderr)
    return table.wrong


@suite.case
def operator_page(world):
    """The admin listener has its own page with the same policy, and the files of both."""
    table, exchange = Table(), world.exchange
    page = exchange.admin("/")
    table.same("the page", page.body, (DIST / "operator.html").read_bytes())
    table.same("policy", dict(page.headers)["content-security-policy"], POLICY)
    for name in re.findall(rb'"/console/([\w.-]+)"', page.body):
        path = "/console/" + name.decode()
        table.same(path, exchange.admin(path).body, get(world, path).body)
    table.problem("not public", get(world, "/operator.html"), 404, "not_found")
    return table.wrong


if __name__ == "__main__":
    sys.exit(run(suite, World))
