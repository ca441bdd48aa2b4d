/* The PROXY protocol, version 2 (wire.md W10): the header alone, then before requests. Bytes are
 * those of the protocol's own document (section 2.2). */
#include <stdio.h>

#include "check.h"
#include "net/fixture.h"
#include "net/request/rate_limit.h"
#include "net/socket/proxy_header.h"

#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define IPV4                   \
    SIGNATURE "\x21\x11\0\x0c" \
              "\xc0\0\2\7"     \
              "\x7f\0\0\1"     \
              "\x12\x34\0\x50"
#define IPV6                                           \
    SIGNATURE "\x21\x21\0\x24"                         \
              "\x20\1\x0d\xb8\0\0\0\7\0\0\0\0\0\0\0\1" \
              "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1"       \
              "\x12\x34\0\x50"
#define GET "GET /api/v1/time HTTP/1.1\r\nHost: x\r\n\r\n"

static const uint8_t client_ipv4[4] = { 192, 0, 2, 7 };

static const struct {
    int line;
    const char *name, *bytes;
    size_t count;
    int want;    /* length, or -1 */
    char client; /* of the peer afterwards: '4', '6' or '-' for unchanged */
} rows[] = {
#define R(name, text, want, client)                          \
    {                                                        \
        __LINE__, name, text, sizeof(text) - 1, want, client \
    }
    R("IPv4", IPV4, 28, '4'),
    R("IPv6", IPV6, 52, '6'),
    R("IPv4 and a request", IPV4 GET, 28, '4'),
    R("IPv4 with more rows",
      SIGNATURE "\x21\x11\0\x10"
                "\xc0\0\2\7"
                "\x7f\0\0\1"
                "\x12\x34\0\x50"
                "\4\0\1x",
      32, '4'),
    R("local", SIGNATURE "\x20\0\0\0", 16, '-'),
    R("local with an address",
      SIGNATURE "\x20\x11\0\x0c"
                "\1\2\3\4\5\6\7\x08\0\1\0\2",
      28, '-'),
    R("unspecified", SIGNATURE "\x21\0\0\2xx", 18, '-'),
    R("a UNIX socket", SIGNATURE "\x21\x31\0\0", 16, '-'),
    R("UDP",
      SIGNATURE "\x21\x12\0\x0c"
                "\1\2\3\4\5\6\7\x08\0\1\0\2",
      -1, '-'),
    R("version 1", "PROXY TCP4 192.0.2.7 127.0.0.1 4660 80\r\n", -1, '-'),
    R("version 3",
      SIGNATURE "\x31\x11\0\x0c"
                "\1\2\3\4\5\6\7\x08\0\1\0\2",
      -1, '-'),
    R("another command",
      SIGNATURE "\x22\x11\0\x0c"
                "\1\2\3\4\5\6\7\x08\0\1\0\2",
      -1, '-'),
    R("IPv4, too short",
      SIGNATURE "\x21\x11\0\x0b"
                "\1\2\3\4\5\6\7\x08\0\1\0",
      -1, '-'),
    R("IPv6, too short",
      SIGNATURE "\x21\x21\0\x0c"
                "\1\2\3\4\5\6\7\x08\0\1\0\2",
      -1, '-'),
    R("too long", SIGNATURE "\x21\x11\x0f\xf1", -1, '-'),
    R("longest", SIGNATURE "\x21\x11\x0f\xf0", 0, '-'),
    R("a request", GET, -1, '-'),
    R("one byte off", "\r\n\r\n\0\r\nQUIT\r", -1, '-'),
};

static void headers(void)
{
    struct peer ipv4 = peer_of_ipv4(client_ipv4), ipv6;
    memcpy(ipv6.bytes, IPV6 + 16, sizeof ipv6.bytes);
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        const struct peer before = { .bytes = { 1, 2, 3 } };
        struct peer peer = before;
        CHECK_ROW(&rows[i], proxy_header_read(rows[i].bytes, rows[i].count, &peer) == rows[i].want);
        const struct peer *want = rows[i].client == '4'   ? &ipv4
                                  : rows[i].client == '6' ? &ipv6
                                                          : &before;
        CHECK_ROW(&rows[i], memcmp(&peer, want, sizeof peer) == 0);
        for (int cut = 0; cut < rows[i].want; cut++) /* in pieces: never more, never less */
            CHECK_ROW(&rows[i], proxy_header_read(rows[i].bytes, (size_t)cut, &peer) == 0);
    }
}

static void lists(void)
{
    struct peer_list list;
    struct peer peer = peer_of_ipv4(client_ipv4);
    CHECK(peer_list_read(&list, "") && list.count == 0 && !peer_list_has(&list, &peer));
    CHECK(peer_list_read(&list, "::1,192.0.2.7") && list.count == 2 && peer_list_has(&list, &peer));
    CHECK(peer_list_read(&list, "::ffff:192.0.2.7") && peer_list_has(&list, &peer));
    CHECK(peer_list_read(&list, "192.0.2.8") && !peer_list_has(&list, &peer));
    static const char *const bad[] = { ",",     "192.0.2.7,", "192.0.2",      "192.0.2.7:1",
                                       "[::1]", "x",          "192.0.2.0/24", " ::1" };
    for (size_t i = 0; i < CC_COUNT(bad); i++)
        CHECK(!peer_list_read(&list, bad[i]));
}

static struct fixture fixture;
static struct protocol *protocol;

static void open_proxied(struct wire *wire)
{
    wire_open(wire, &fixture, protocol, false);
    wire->conn->phase = CONN_PROXY;
    wire->conn->address = 99;
}

static void requests(void)
{
    struct peer named = peer_of_ipv4(client_ipv4);
    struct wire wire;
    struct wire_answer answer;
    for (size_t piece = 0; piece < 40; piece++) {
        open_proxied(&wire);
        wire_send(&wire, IPV4 GET GET, sizeof(IPV4 GET GET) - 1, piece);
        CHECK(wire_answer(&wire, &answer, false) && answer.status == 200);
        CHECK(wire_answer(&wire, &answer, false) && answer.status == 200);
        CHECK(wire.conn->address == rate_limit_address(&named));
        wire_free(&wire);
    }
    open_proxied(&wire); /* LOCAL: the proxy's own address */
    wire_send(&wire, SIGNATURE "\x20\0\0\0" GET, 16 + sizeof(GET) - 1, 0);
    CHECK(wire_answer(&wire, &answer, false) && answer.status == 200 && wire.conn->address == 99);
    wire_send(&wire, IPV4, sizeof(IPV4) - 1, 0); /* one header a connection */
    CHECK(wire_answer(&wire, &answer, false) && answer.status == 400);
    wire_free(&wire);

    uint64_t refused = protocol->context.metrics.counters.proxy_headers_refused;
    open_proxied(&wire); /* no header: closed without an answer */
    wire_send(&wire, GET, sizeof(GET) - 1, 0);
    CHECK(wire.conn == NULL && wire.count == 0);
    CHECK(protocol->context.metrics.counters.proxy_headers_refused == refused + 1);
    wire_free(&wire);

    open_proxied(&wire); /* half a header for 10 s: the same */
    wire_send(&wire, IPV4, 20, 0);
    clock_advance(&fixture.clock, 9 * CONN_SECOND_NS);
    wire_turn(&wire);
    CHECK(wire.conn != NULL);
    clock_advance(&fixture.clock, CONN_SECOND_NS);
    wire_turn(&wire);
    CHECK(wire.conn == NULL && wire.count == 0);
    wire_free(&wire);

    wire_open(&wire, &fixture, protocol, false); /* forged, from no proxy: no HTTP */
    wire_send(&wire, IPV4 GET, sizeof(IPV4 GET) - 1, 0);
    CHECK(wire_answer(&wire, &answer, false) && answer.status == 400);
    CHECK(!wire_answer(&wire, &answer, false));
    wire_free(&wire);
}

/* W10: the connections of the client that the proxy names are counted for it. */
static void too_many(void)
{
    static const struct tls_server *const some = (void *)&fixture;
    struct wire first, second, third;
    struct wire_answer answer;
    protocol->config.connections = 1;
    open_proxied(&first);
    wire_send(&first, IPV4 GET, sizeof(IPV4 GET) - 1, 0);
    CHECK(wire_answer(&first, &answer, false) && answer.status == 200);
    open_proxied(&second); /* refused when its header is whole, whatever follows it */
    wire_send(&second, IPV4 GET GET, sizeof(IPV4 GET GET) - 1, 0);
    CHECK(wire_answer(&second, &answer, false) && answer.status == 503);
    CHECK(strstr(second.text, "\"code\":\"too_many_connections\"") != NULL);
    CHECK(second.conn == NULL && !wire_answer(&second, &answer, false));
    open_proxied(&third); /* another client */
    wire_send(&third, IPV6 GET, sizeof(IPV6 GET) - 1, 0);
    CHECK(wire_answer(&third, &answer, false) && answer.status == 200);
    wire_free(&third);
    wire_free(&second);

    protocol->config.tls = some; /* only whether there is one counts here */
    open_proxied(&second);
    second.conn->secure = true;
    wire_send(&second, IPV4, sizeof(IPV4) - 1, 0);
    CHECK(second.conn == NULL && second.count == 7);
    CHECK(memcmp(second.text, "\x15\3\1\0\2\2\x50", 7) == 0);
    wire_free(&second);
    protocol->config.tls = NULL;

    wire_free(&first); /* its place is free again */
    open_proxied(&first);
    wire_send(&first, IPV4 GET, sizeof(IPV4 GET) - 1, 0);
    CHECK(wire_answer(&first, &answer, false) && answer.status == 200);
    wire_free(&first);
    CHECK(protocol->context.metrics.counters.connections_refused == 2);
    protocol->config.connections = NET_CONNECTIONS_MAX;
}

int main(void)
{
    headers();
    lists();
    fixture_init(&fixture, true, FIXTURE_SLOTS);
    protocol = fixture_protocol(&fixture, 128);
    requests();
    too_many();
    fixture_end(&fixture, protocol);
    return 0;
}
