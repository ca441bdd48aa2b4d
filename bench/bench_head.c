/* bench_head.c - request heads: parsed and routed, as wrk, curl and a browser send them, and one
 * that arrives in pieces.
 *
 * Each by every variant of this machine (0 scalar, 1 AVX2, 2 AVX-512). The goal is 100 ns for head
 * and dispatch. */
#include <string.h>

#include "net/http/http.h"
#include "net/http/http_map.h"
#include "net/http/route.h"
#include "shim.h"

#define ORDER_LINE "POST /api/v1/trading/order/place/limit HTTP/1.1\r\n"

static const char lean[] = ORDER_LINE "Host: 127.0.0.1:8080\r\n"
                                      "Content-Type: application/octet-stream\r\n"
                                      "Content-Length: 168\r\n\r\n";

static const char curl[] = ORDER_LINE "Host: 127.0.0.1:8080\r\n"
                                      "User-Agent: curl/7.88.1\r\n"
                                      "Accept: */*\r\n"
                                      "Content-Type: application/json\r\n"
                                      "Content-Length: 288\r\n\r\n";

static const char browser[] =
    "GET /api/v1/markets/BTC-PERP/book?depth=50 HTTP/1.1\r\n"
    "Host: exchange.example.com\r\n"
    "Connection: keep-alive\r\n"
    "sec-ch-ua: \"Chromium\";v=\"124\", \"Not-A.Brand\";v=\"99\"\r\n"
    "sec-ch-ua-mobile: ?0\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/124.0.0.0 Safari/537.36\r\n"
    "Accept: */*\r\n"
    "Origin: https://exchange.example.com\r\n"
    "Sec-Fetch-Site: same-origin\r\n"
    "Sec-Fetch-Mode: cors\r\n"
    "Sec-Fetch-Dest: empty\r\n"
    "Referer: https://exchange.example.com/trade\r\n"
    "Accept-Encoding: gzip, deflate, br\r\n"
    "Accept-Language: en-US,en;q=0.9\r\n"
    "X-API-KEY: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n";

static void dispatch(struct bench_run *run, const char *text, size_t count)
{
    struct route_table table;
    struct http_head head;
    struct route route;
    struct problem_detail problem;
    const char *allow;
    http_map_choose((enum cpu_level)bench_argument(run));
    route_init(&table, (struct route_features){ 0 });
    while (bench_next(run)) {
        if (http_parse(&head, text, count) != (int)count ||
            !route_find(&table, &head, text, false, &route, &problem, &allow)) {
            bench_fail(run, "the head was refused");
            return;
        }
        bench_keep(&route);
    }
    bench_bytes(run, (int64_t)count);
}

static void dispatch_lean(struct bench_run *run)
{
    dispatch(run, lean, sizeof lean - 1);
}

static void dispatch_curl(struct bench_run *run)
{
    dispatch(run, curl, sizeof curl - 1);
}

static void dispatch_browser(struct bench_run *run)
{
    dispatch(run, browser, sizeof browser - 1);
}

static void parse_lean(struct bench_run *run)
{
    struct http_head head;
    http_map_choose((enum cpu_level)bench_argument(run));
    while (bench_next(run)) {
        if (http_parse(&head, lean, sizeof lean - 1) <= 0)
            bench_fail(run, "the head was refused");
        bench_keep(&head);
    }
    bench_bytes(run, sizeof lean - 1);
}

/* A head that arrives 16 bytes at a time. */
static void scan_pieces(struct bench_run *run)
{
    uint8_t fault;
    uint32_t fault_at;
    http_map_choose((enum cpu_level)bench_argument(run));
    while (bench_next(run)) {
        int found = 0;
        for (size_t at = 0; found == 0; at += 16) {
            size_t end = at + 16 < sizeof browser - 1 ? at + 16 : sizeof browser - 1;
            found = http_scan(browser, at, end, &fault, &fault_at);
        }
        bench_keep(&found);
    }
    bench_bytes(run, sizeof browser - 1);
}

void bench_register(void)
{
    for (enum cpu_level level = CPU_SCALAR; level <= cpu_level(); level++) {
        bench_add_argument("head/parse_order", parse_lean, level);
        bench_add_argument("head/dispatch_order", dispatch_lean, level);
        bench_add_argument("head/dispatch_curl", dispatch_curl, level);
        bench_add_argument("head/dispatch_browser", dispatch_browser, level);
        bench_add_argument("head/scan_in_pieces", scan_pieces, level);
    }
}
