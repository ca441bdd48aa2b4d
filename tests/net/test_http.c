/* Request heads and chunked bodies: wire.md W10, and a plain reader beside ours. */
#include <stdio.h>

#include "check.h"
#include "net/http/http.h"
#include "net/http/http_map.h"

#define GOOD_LINE "GET /a HTTP/1.1\r\n"

static const struct {
    int line;
    const char *name, *text;
    int fault;   /* enum http_fault; 0: accepted */
    uint32_t at; /* place of the fault */
} rows[] = {
#define R(name, text, fault, at)        \
    {                                   \
        __LINE__, name, text, fault, at \
    }
    R("least 1.1", GOOD_LINE "Host: x\r\n\r\n", 0, 0),
    R("least 1.0", "GET /a HTTP/1.0\r\nHost: x\r\n\r\n", 0, 0),
    R("a query for a path", "GET http://x?y/a HTTP/1.1\r\nHost: x\r\n\r\n", HTTP_FAULT_TARGET, 4),
    R("a fragment in the authority", "GET http://x#/a HTTP/1.1\r\nHost: x\r\n\r\n",
      HTTP_FAULT_TARGET, 4),
    R("no host 1.0", "GET /a HTTP/1.0\r\n\r\n", HTTP_FAULT_HOST, 17),
    R("empty host", GOOD_LINE "Host:\r\n\r\n", 0, 0),
    R("empty value, tabs", GOOD_LINE "Host:\t x \t\r\nA:\r\n\r\n", 0, 0),
    R("absolute form", "GET http://h:1/a?b HTTP/1.1\r\nHost: x\r\n\r\n", 0, 0),
    R("other method", "PROPFIND /a HTTP/1.1\r\nHost: x\r\n\r\n", 0, 0),
    R("bytes above 127 in a value", GOOD_LINE "Host: x\r\nA: \xc3\xa9\xff\r\n\r\n", 0, 0),
    R("bare LF", "GET /a HTTP/1.1\nHost: x\r\n\r\n", HTTP_FAULT_LINE_END, 15),
    R("bare LF at the end", GOOD_LINE "Host: x\r\n\n", HTTP_FAULT_LINE_END, 26),
    R("bare CR", GOOD_LINE "Ho\rst: x\r\n\r\n", HTTP_FAULT_LINE_END, 20),
    R("CR CR LF", GOOD_LINE "Host: x\r\r\n\r\n", HTTP_FAULT_LINE_END, 25),
    R("zero byte", GOOD_LINE "Host: x\x01\r\n\r\n", HTTP_FAULT_CONTROL, 24),
    R("delete", GOOD_LINE "Host: \x7f\r\n\r\n", HTTP_FAULT_CONTROL, 23),
    R("line first", "\r\nGET /a HTTP/1.1\r\nHost: x\r\n\r\n", HTTP_FAULT_METHOD, 0),
    R("no method", " /a HTTP/1.1\r\nHost: x\r\n\r\n", HTTP_FAULT_METHOD, 0),
    R("method no token", "GE:T /a HTTP/1.1\r\nHost: x\r\n\r\n", HTTP_FAULT_METHOD, 2),
    R("method then tab", "GET\t/a HTTP/1.1\r\nHost: x\r\n\r\n", HTTP_FAULT_METHOD, 3),
    R("two spaces", "GET  /a HTTP/1.1\r\nHost: x\r\n\r\n", HTTP_FAULT_TARGET, 4),
    R("space in target", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", HTTP_FAULT_TARGET, 6),
    R("target not ASCII", "GET /\xc3\xa9 HTTP/1.1\r\nHost: x\r\n\r\n", HTTP_FAULT_TARGET, 5),
    R("asterisk", "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", HTTP_FAULT_TARGET, 8),
    R("authority only", "GET http://host HTTP/1.1\r\nHost: x\r\n\r\n", HTTP_FAULT_TARGET, 4),
    R("HTTP/2", "GET /a HTTP/2.0\r\nHost: x\r\n\r\n", HTTP_FAULT_VERSION, 7),
    R("HTTP/1.2", "GET /a HTTP/1.2\r\nHost: x\r\n\r\n", HTTP_FAULT_VERSION, 7),
    R("HTTP/0.9", "GET /a\r\n\r\n", HTTP_FAULT_VERSION, 4),
    R("lower-case version", "GET /a http/1.1\r\nHost: x\r\n\r\n", HTTP_FAULT_VERSION, 7),
    R("fold", GOOD_LINE "Host: x\r\n y\r\n\r\n", HTTP_FAULT_FOLD, 26),
    R("fold with tab", GOOD_LINE "Host: x\r\n\ty\r\n\r\n", HTTP_FAULT_FOLD, 26),
    R("space before colon", GOOD_LINE "Host : x\r\n\r\n", HTTP_FAULT_NAME, 21),
    R("no colon", GOOD_LINE "Host\r\n\r\n", HTTP_FAULT_NAME, 21),
    R("no name", GOOD_LINE ": x\r\n\r\n", HTTP_FAULT_NAME, 17),
    R("no host", GOOD_LINE "A: x\r\n\r\n", HTTP_FAULT_HOST, 23),
    R("second host", GOOD_LINE "Host: x\r\nhOST: x\r\n\r\n", HTTP_FAULT_TWICE, 26),
    R("second host 1.0", "GET /a HTTP/1.0\r\nHost: x\r\nHost: x\r\n\r\n", HTTP_FAULT_TWICE, 26),
    R("second length", GOOD_LINE "Host: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
      HTTP_FAULT_TWICE, 45),
    R("length list", GOOD_LINE "Host: x\r\nContent-Length: 1, 1\r\n\r\n", HTTP_FAULT_LENGTH, 42),
    R("length sign", GOOD_LINE "Host: x\r\nContent-Length: +1\r\n\r\n", HTTP_FAULT_LENGTH, 42),
    R("length empty", GOOD_LINE "Host: x\r\nContent-Length:\r\n\r\n", HTTP_FAULT_LENGTH, 41),
    R("both", GOOD_LINE "Host: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      HTTP_FAULT_BOTH, 73),
    R("gzip", GOOD_LINE "Host: x\r\nTransfer-Encoding: gzip\r\n\r\n", HTTP_FAULT_CODING, 45),
    R("gzip, chunked", GOOD_LINE "Host: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
      HTTP_FAULT_CODING, 45),
    R("chunked twice",
      GOOD_LINE "Host: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
      HTTP_FAULT_TWICE, 54),
    R("chunked in 1.0", "GET /a HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", HTTP_FAULT_CODING,
      36),
    R("expectation", GOOD_LINE "Host: x\r\nExpect: 200-ok\r\n\r\n", HTTP_FAULT_EXPECT, 34),
    R("second key", GOOD_LINE "Host: x\r\nX-API-KEY: a\r\nx-api-key: b\r\n\r\n", HTTP_FAULT_TWICE,
      40),
    R("second type", GOOD_LINE "Host: x\r\nContent-Type: a\r\ncontent-type: b\r\n\r\n",
      HTTP_FAULT_TWICE, 43),
};

static void refuses_each_fault_at_its_place(void)
{
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        struct http_head head;
        size_t count = strlen(rows[i].text);
        int bytes = http_parse(&head, rows[i].text, count);
        if (rows[i].fault == 0) {
            CHECK_ROW(&rows[i], bytes == (int)count);
            continue;
        }
        CHECK_ROW(&rows[i], bytes == -1);
        CHECK_ROW(&rows[i], head.fault == rows[i].fault);
        CHECK_ROW(&rows[i], head.fault_at == rows[i].at);
        CHECK_ROW(&rows[i], http_fault_text(head.fault)[0] != '\0');
    }
}

static void reads_the_headers_that_count(void)
{
    static const char text[] = "POST /api?x=1&y HTTP/1.1\r\nHOST: h\r\ncontent-TYPE: "
                               "Application/JSON; charset=utf-8\r\nContent-Length: 00288\r\n"
                               "X-Api-Key:  k== \r\nConnection: foo, Close\r\nAccept: text/html, "
                               "APPLICATION/octet-stream;q=1\r\nX-ACK: full\r\nExpect: 100-Continue"
                               "\r\n\r\nbody";
    struct http_head head;
    CHECK(http_parse(&head, text, sizeof text - 1) == (int)sizeof text - 5);
    CHECK(head.method == HTTP_POST && head.minor == 1 && head.media == HTTP_MEDIA_JSON);
    CHECK(head.has_length && head.content_length == 288 && !head.chunked);
    CHECK(!head.keep_alive && head.ack == HTTP_ACK_FULL && head.accepts_octets &&
          head.expects_continue);
    CHECK(head.path.count == 4 && memcmp(text + head.path.at, "/api", 4) == 0);
    CHECK(head.query.count == 5 && memcmp(text + head.query.at, "x=1&y", 5) == 0);
    CHECK(head.has_api_key && head.api_key.count == 3);
    CHECK(memcmp(text + head.api_key.at, "k==", 3) == 0);
}

static const struct {
    int line;
    const char *name, *headers;
    bool keep_alive_10, keep_alive_11;
} keep_rows[] = {
#define K(name, headers, ten, eleven)        \
    {                                        \
        __LINE__, name, headers, ten, eleven \
    }
    K("default", "", false, true),
    K("close", "Connection: close\r\n", false, false),
    K("keep-alive", "Connection: Keep-Alive\r\n", true, true),
    K("list", "Connection: a , keep-alive,b\r\n", true, true),
    K("two lines", "Connection: a\r\nConnection: close\r\n", false, false),
    K("no token of ours", "Connection: closed\r\n", false, true),
};

static void keeps_alive_as_the_version_says(void)
{
    for (size_t i = 0; i < CC_COUNT(keep_rows); i++)
        for (int minor = 0; minor < 2; minor++) {
            char text[256];
            struct http_head head;
            int count = snprintf(text, sizeof text, "GET / HTTP/1.%d\r\nHost: x\r\n%s\r\n", minor,
                                 keep_rows[i].headers);
            CHECK_ROW(&keep_rows[i], http_parse(&head, text, (size_t)count) == count);
            bool want = minor == 0 ? keep_rows[i].keep_alive_10 : keep_rows[i].keep_alive_11;
            CHECK_ROW(&keep_rows[i], head.keep_alive == want);
        }
}

static void octets_alone_are_noticed(void)
{
    static const struct {
        const char *accept;
        bool octets;
    } accepts[] = {
        { "application/octet-stream", true },
        { "application/octet-stream, */*", false },
        { "application/json", false },
        { "*/*", false },
        { "application/octet-stream;q=1", true },
        { "application/octet-stream, text/html", true },
        { "application/*", false },
        { "application/octet-streams", false },
    };
    for (size_t i = 0; i < CC_COUNT(accepts); i++) {
        char text[256];
        struct http_head head;
        int count = snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: x\r\nAccept: %s\r\n\r\n",
                             accepts[i].accept);
        CHECK(http_parse(&head, text, (size_t)count) == count);
        CHECK(head.accepts_octets == accepts[i].octets);
    }
}

/* W5: full and binary; what else is asked for is kept to be refused. */
static void forms_of_an_answer(void)
{
    static const struct {
        const char *headers;
        enum http_ack ack;
    } asked[] = {
        { "", HTTP_ACK_NONE },
        { "X-Ack: full\r\n", HTTP_ACK_FULL },
        { "x-ack:  BINARY \r\n", HTTP_ACK_BINARY },
        { "X-Ack:\r\n", HTTP_ACK_OTHER },
        { "X-Ack: Receipt\r\n", HTTP_ACK_RECEIPT },
        { "X-Ack: receipts\r\n", HTTP_ACK_OTHER },
        { "X-Ack: full, binary\r\n", HTTP_ACK_OTHER },
        { "X-Ack: fuller\r\n", HTTP_ACK_OTHER },
    };
    struct http_head head;
    char text[256];
    for (size_t i = 0; i < CC_COUNT(asked); i++) {
        int count =
            snprintf(text, sizeof text, "GET / HTTP/1.1\r\nHost: x\r\n%s\r\n", asked[i].headers);
        CHECK(http_parse(&head, text, (size_t)count) == count);
        CHECK(head.ack == asked[i].ack);
    }
    int count = snprintf(text, sizeof text,
                         "GET / HTTP/1.1\r\nHost: x\r\nX-Ack: full\r\nX-Ack: full\r\n\r\n");
    CHECK(http_parse(&head, text, (size_t)count) == -1 && head.fault == HTTP_FAULT_TWICE);
}

/* W10: at most 16,384 bytes and 64 headers. */
static void bounds_are_exact(void)
{
    static char text[20000];
    struct http_head head;
    for (int extra = -1; extra <= 1; extra++) {
        size_t want = (size_t)(HTTP_HEAD_MAX + extra);
        memset(text, 'a', sizeof text);
        memcpy(text, "GET /a HTTP/1.1\r\nHost: ", 23);
        memcpy(text + want - 4, "\r\n\r\n", 4);
        int bytes = http_parse(&head, text, want);
        CHECK(extra <= 0 ? bytes == (int)want : bytes == -1 && head.fault == HTTP_FAULT_TOO_LARGE);
        CHECK(head.path.count == 2); /* known all the same: 404 comes before 431 */
    }
    for (int headers = 63; headers <= 65; headers++) {
        size_t count = (size_t)sprintf(text, "GET /a HTTP/1.1\r\nHost: x\r\n");
        for (int i = 1; i < headers; i++)
            count += (size_t)sprintf(text + count, "A%d: b\r\n", i);
        count += (size_t)sprintf(text + count, "\r\n");
        int bytes = http_parse(&head, text, count);
        CHECK(headers <= 64 ? bytes == (int)count
                            : bytes == -1 && head.fault == HTTP_FAULT_TOO_MANY);
    }
}

/* Every prefix of a good head is incomplete, and the piecewise scan finds the same end. */
static void prefixes_are_incomplete(void)
{
    static const char text[] = GOOD_LINE "Host: x\r\nUser-Agent: something of some length, so that "
                                         "several blocks are filled by this head\r\n\r\nrest";
    struct http_head head;
    size_t end = sizeof text - 1 - 4;
    for (size_t count = 0; count < end; count++)
        CHECK(http_parse(&head, text, count) == 0);
    for (size_t step = 1; step < end; step++) {
        uint8_t fault;
        uint32_t at;
        int found = 0;
        size_t seen = 0;
        while (found == 0) {
            size_t next = seen + step < sizeof text - 1 ? seen + step : sizeof text - 1;
            found = http_scan(text, seen, next, &fault, &at);
            seen = next;
        }
        CHECK(found == (int)end);
    }
}

static uint64_t random_state = 88172645463325252u;

static uint32_t next_random(uint32_t bound)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 32) % bound;
}

/* The first pass, byte by byte: end of the head, 0 or -1 with the place. */
static int plain_end(const char *text, size_t count, uint32_t *at)
{
    size_t line_start = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned char c = (unsigned char)text[i];
        if (i > 0 && text[i - 1] == '\r' && c != '\n') {
            *at = (uint32_t)i;
            return -1;
        }
        if (c == '\n') {
            if (i == 0 || text[i - 1] != '\r') {
                *at = (uint32_t)i;
                return -1;
            }
            if (i == line_start + 1 && line_start > 0)
                return (int)i + 1;
            line_start = i + 1;
        } else if ((c < 32 && c != '\t' && c != '\r') || c == 127) {
            *at = (uint32_t)i;
            return -1;
        }
    }
    return 0;
}

/* Random damage: parse and piecewise scan agree with the plain reader about end and fault. */
static void agrees_with_a_plain_reader(void)
{
    static const char bytes[] = "\r\n\r\n: \t/aA?%\x7f\x01\xc3";
    static const char good[] = GOOD_LINE "Host: x\r\nContent-Length: 5\r\nConnection: close\r\n"
                                         "Accept: */*\r\nX-Something: else entirely\r\n\r\nhello";
    for (unsigned round = 0; round < 200000; round++) {
        char text[sizeof good];
        size_t count = sizeof good - 1 - next_random(20);
        memcpy(text, good, sizeof good);
        for (uint32_t edits = next_random(4); edits > 0; edits--)
            text[next_random((uint32_t)count)] = bytes[next_random(sizeof bytes - 1)];
        uint32_t want_at = 0, at = 0;
        uint8_t fault;
        int want = plain_end(text, count, &want_at);
        struct http_head head;
        int bytes_read = http_parse(&head, text, count);
        CHECK(want <= 0 ? (bytes_read == 0) == (want == 0)
                        : bytes_read == want || bytes_read == -1);
        if (want < 0)
            CHECK(head.fault_at == want_at &&
                  (head.fault == HTTP_FAULT_LINE_END || head.fault == HTTP_FAULT_CONTROL));
        int found = 0;
        for (size_t seen = 0; seen < count && found == 0;) {
            size_t next = seen + 1 + next_random(40);
            if (next > count)
                next = count;
            found = http_scan(text, seen, next, &fault, &at);
            seen = next;
        }
        CHECK(found == want && (want >= 0 || at == want_at));
    }
}

static const struct {
    int line;
    const char *name, *text;
    enum http_chunk_result result;
    const char *body;
} chunk_rows[] = {
#define C(name, text, result, body)                     \
    {                                                   \
        __LINE__, name, text, HTTP_CHUNK_##result, body \
    }
    C("one", "5\r\nhello\r\n0\r\n\r\n", DONE, "hello"),
    C("two", "2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\nnext", DONE, "hello"),
    C("hex, leading zeros", "00A\r\n0123456789\r\n000\r\n\r\n", DONE, "0123456789"),
    C("empty", "0\r\n\r\n", DONE, ""),
    C("incomplete", "5\r\nhel", MORE, "hel"),
    C("extension", "5;a=b\r\nhello\r\n0\r\n\r\n", BAD, ""),
    C("trailer", "0\r\nA: b\r\n\r\n", BAD, ""),
    C("no size", "\r\n", BAD, ""),
    C("no hex", "g\r\n", BAD, ""),
    C("space", "5 \r\nhello", BAD, ""),
    C("bare LF", "5\nhello", BAD, ""),
    C("no CR LF behind", "5\r\nhelloX", BAD, "hello"),
    C("too many digits", "000000005\r\nhello", BAD, ""),
    C("of the room's size", "40\r\n", MORE, ""),
    C("larger than room, announced", "41\r\n", LARGE, ""),
    C("larger than room", "41\r\n01234567890123456789012345678901234567890123456789012345678901234",
      LARGE, ""),
};

static void chunks_are_read_in_any_pieces(void)
{
    for (size_t i = 0; i < CC_COUNT(chunk_rows); i++)
        for (size_t step = 1; step <= strlen(chunk_rows[i].text); step++) {
            char buffer[128], body[64];
            struct http_chunked chunked = { 0 };
            size_t at = 0, have = 0, count = strlen(chunk_rows[i].text);
            enum http_chunk_result result = HTTP_CHUNK_MORE;
            memcpy(buffer, chunk_rows[i].text, count);
            while (at < count && result == HTTP_CHUNK_MORE) {
                size_t used, written, part = count - at < step ? count - at : step;
                result = http_chunked_read(&chunked, buffer + at, part, &used, body + have,
                                           sizeof body - have, &written);
                at += used;
                have += written;
            }
            CHECK_ROW(&chunk_rows[i], result == chunk_rows[i].result);
            if (result == HTTP_CHUNK_DONE)
                CHECK_ROW(&chunk_rows[i], have == strlen(chunk_rows[i].body) &&
                                              memcmp(body, chunk_rows[i].body, have) == 0);
        }
}

int main(void)
{
    for (enum cpu_level level = CPU_SCALAR; level <= cpu_level(); level++) {
        http_map_choose(level);
        refuses_each_fault_at_its_place();
        reads_the_headers_that_count();
        keeps_alive_as_the_version_says();
        octets_alone_are_noticed();
        forms_of_an_answer();
        bounds_are_exact();
        prefixes_are_incomplete();
        agrees_with_a_plain_reader();
        chunks_are_read_in_any_pieces();
    }
    return 0;
}
