"""test_llhttp.py - perpd's request parser against llhttp, the parser of node: a request that perpd
takes, llhttp takes with the same method, target and body length, so that no proxy with llhttp reads
another request out of the same bytes (wire.md W10). Requests of the floor must be taken by both.
llhttp refuses a tab after the value of a framing header, which RFC 9110 allows and perpd takes.

PERPD_LLHTTP_CASES: how many mutated requests, 4,000 by default. Skipped without node.
"""
import os
import random
import re
import shutil
import subprocess
import sys

FLOOR = [  # request, its body's length
    (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", 0),
    (b"GET /api/v1/orders?limit=5&x=%31 HTTP/1.1\r\nHost: x:8080\r\nX-API-KEY: a+/=\r\n\r\n", 0),
    (b"GET /a HTTP/1.0\r\nHost: x\r\n\r\n", 0),
    (b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello", 5),
    (b"POST /a HTTP/1.1\r\nhOST:x\r\ncontent-length:\t5 \r\n\r\nhello", 5),
    (b"PUT /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
     b"2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", 5),
    (b"PATCH /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
     b"A\r\n0123456789\r\n0\r\n\r\n", 10),
    (b"POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}", 2),
    (b"OPTIONS /a HTTP/1.1\r\nHost: x\r\nOrigin: https://a\r\nAccept: */*\r\nX: \r\n\r\n", 0),
    (b"GET http://x/a HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, close\r\n\r\n", 0),
]
PARTS = [b"\r\n", b"\n", b"\r", b" ", b"\t", b":", b"\0", b"\x80", b"\x7f", b",", b";", b"0", b"5",
         b"Content-Length: 5\r\n", b"Content-Length: 05\r\n", b"Content-Length: +5\r\n",
         b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: identity\r\n", b"Host: y\r\n",
         b"Transfer-Encoding: gzip, chunked\r\n", b" folded\r\n", b"X : y\r\n", b"HTTP/1.1",
         b"?", b"#"]
TAB_AFTER = re.compile(rb"\n(?:content-length|transfer-encoding):[^\r]*\t[ \t]*\r", re.I)
READER = r"""
const {HTTPParser, methods} = process.binding('http_parser');
const input = require('fs').readFileSync(0);
let at = 0, out = [];
while (at < input.length) {
  const end = input.indexOf(10, at), count = parseInt(input.toString('latin1', at, end));
  const bytes = input.subarray(end + 1, end + 1 + count);
  at = end + 1 + count;
  const parser = new HTTPParser();
  let head = null, length = 0, done = 0;
  parser.initialize(HTTPParser.REQUEST, {});
  parser[HTTPParser.kOnHeaders | 0] = (headers, url) => { head = ['', url]; };
  parser[HTTPParser.kOnHeadersComplete | 0] = (major, minor, headers, method, url) => {
    head = [methods[method], head ? head[1] + (url || '') : url];
  };
  parser[HTTPParser.kOnBody | 0] = (buffer, start, count) => {
    length += count === undefined ? buffer.length : count;
  };
  parser[HTTPParser.kOnMessageComplete | 0] = () => { done++; };
  const used = parser.execute(Buffer.from(bytes));
  out.push(typeof used === 'number' && done === 1 ? `${head[0]} ${head[1]} ${length}` : 'no');
}
process.stdout.write(out.join('\n') + '\n');
"""


def mutated(rng):
    request = bytearray(rng.choice(FLOOR)[0])
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(request) + 1)
        lines = [match.end() for match in re.finditer(b"\r\n", request)]
        kind = rng.randrange(4)
        if kind == 0 and at < len(request):
            del request[at]
        elif kind == 1 and at < len(request):
            request[at] = rng.choice(rng.choice(PARTS))
        else:
            part = rng.choice(PARTS)
            if len(part) > 4 and lines:
                at = rng.choice(lines)
            request[at:at] = part
    return bytes(request)


def verdicts(command, requests):
    data = b"".join(b"%d\n%s" % (len(request), request) for request in requests)
    lines = subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True,
                           env={**os.environ, "NODE_NO_WARNINGS": "1"}).stdout
    lines = lines.decode("latin-1").split("\n")[:-1]
    assert len(lines) == len(requests), (command, len(lines), len(requests))
    return lines


def main():
    node = shutil.which("node")
    if node is None:
        print("skipped: node is not installed")
        return 77
    seed = int(os.environ.get("PERPD_SEED", random.randrange(2**32)))
    rng = random.Random(seed)
    count = int(os.environ.get("PERPD_LLHTTP_CASES", 4_000))
    requests = [request for request, _ in FLOOR] + [mutated(rng) for _ in range(count)]
    ours = verdicts([os.path.join(sys.argv[1], "tests", "http_head")], requests)
    theirs = verdicts([node, "-e", READER], requests)
    wrong = 0
    for index, (request, our, their) in enumerate(zip(requests, ours, theirs)):
        floor = index < len(FLOOR)
        if their == "no" and TAB_AFTER.search(request):
            continue
        bad = our != their if our != "no" else floor
        if floor and not our.endswith(f" {FLOOR[index][1]}"):
            bad = True
        if bad:
            wrong += 1
            print(f"{request!r}: perpd {our!r}, llhttp {their!r}")
    taken = sum(our != "no" for our in ours)
    print(f"seed {seed}: {len(requests)} requests, {taken} taken, {wrong} read differently")
    return 1 if wrong or taken < len(requests) // 40 else 0


if __name__ == "__main__":
    sys.exit(main())
