/* http_map: the variants make the same map, end and fault of the same head, wherever it is split,
 * whatever byte stands in it. The scalar one says in plain words what the bits mean. */
#include <stdio.h>

#include "check.h"
#include "net/http/http_map.h"

static const struct http_map_variant *const variants[CPU_LEVELS] = { &http_map_scalar,
                                                                     &http_map_avx2,
                                                                     &http_map_avx512 };

static const char head[] = "POST /api/v1/trading/order/place/limit?x=1 HTTP/1.1\r\n"
                           "Host: 127.0.0.1:8080\r\nContent-Type: application/json\r\n"
                           "User-Agent: a\tb (c; d) \xc3\xa9\r\nX-API-KEY: AAAA+/==\r\n"
                           "Content-Length: 288\r\n\r\nbody\r\n\r\n";

enum { HEAD_BYTES = sizeof head - 1 };

static void compare_heads(enum cpu_level level, const char *text, size_t count)
{
    static struct http_map want, got;
    uint8_t want_fault = 0, fault = 0;
    uint32_t want_at = 0, at = 0;
    memset(&want, 0, sizeof want);
    memset(&got, 0, sizeof got);
    int wanted = http_map_scalar.head(&want, text, count, &want_fault, &want_at);
    CHECK(variants[level]->head(&got, text, count, &fault, &at) == wanted);
    CHECK(fault == want_fault && at == want_at);
    CHECK(memcmp(&got, &want, sizeof got) == 0);
}

static void compare_scans(enum cpu_level level, const char *text, size_t from, size_t count)
{
    uint8_t want_fault = 0, fault = 0;
    uint32_t want_at = 0, at = 0;
    int wanted = http_map_scalar.scan(text, from, count, &want_fault, &want_at);
    CHECK(variants[level]->scan(text, from, count, &fault, &at) == wanted);
    CHECK(fault == want_fault && at == want_at);
}

/* Every length, every split of it, and every byte at every place. */
static void test_variant(enum cpu_level level)
{
    char text[HEAD_BYTES];
    for (size_t count = 0; count <= HEAD_BYTES; count++) {
        compare_heads(level, head, count);
        for (size_t from = 0; from <= count; from++)
            compare_scans(level, head, from, count);
    }
    memcpy(text, head, HEAD_BYTES);
    for (size_t at = 0; at < HEAD_BYTES; at++) {
        for (unsigned byte = 0; byte < 256; byte++) {
            text[at] = (char)byte;
            compare_heads(level, text, HEAD_BYTES);
            compare_scans(level, text, at, HEAD_BYTES);
        }
        text[at] = head[at];
    }
}

/* A head that never ends, at the bound. */
static void test_bound(enum cpu_level level)
{
    static char text[HTTP_MAP_BYTES_MAX + 64];
    memset(text, 'a', sizeof text);
    for (size_t count = HTTP_MAP_BYTES_MAX - 65; count <= sizeof text; count++) {
        compare_heads(level, text, count);
        compare_scans(level, text, count - 64, count);
    }
}

/* What the bits are, by hand: "G\r\n :" has the token G; CR, LF, space and colon are none. */
static void test_bits(enum cpu_level level)
{
    static struct http_map map;
    uint8_t fault;
    uint32_t at;
    CHECK(variants[level]->head(&map, "G\r\n :", 5, &fault, &at) == 0);
    CHECK(map.words == 1 && map.stop[0] == 0x1e && map.cr[0] == 0x02);
    CHECK(variants[level]->head(&map, "G\r\n\r\n", 5, &fault, &at) == 5);
    CHECK(variants[level]->head(&map, "G\n", 2, &fault, &at) == -1 && at == 1);
}

int main(void)
{
    for (enum cpu_level level = CPU_SCALAR; level <= cpu_level(); level++) {
        test_variant(level);
        test_bound(level);
        test_bits(level);
        printf("%s: agrees\n", cpu_level_name(level));
    }
    return 0;
}
