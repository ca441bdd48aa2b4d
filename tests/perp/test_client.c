/* The connection of perp against a server that answers byte by byte, all at once, late, or not. */
#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "perp/request/client.h"

enum { REQUESTS = 5000, BODY_BYTES = 400, TIMEOUT_MS = 5000 };

/* What the server does with the one connection that it takes. */
typedef void script(int fd);

static pid_t serve(script *run, char url[64])
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t count = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(listener >= 0 && bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(listen(listener, 1) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &count) == 0);
    snprintf(url, 64, "http://127.0.0.1:%u", ntohs(address.sin_port));
    pid_t pid = fork();
    if (pid == 0) {
        alarm(30);
        int fd = accept(listener, NULL, NULL);
        if (fd >= 0)
            run(fd);
        _exit(0);
    }
    close(listener);
    return pid;
}

static void say(int fd, const char *text)
{
    CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
}

/* Reads until `wanted` empty lines, the ends of heads, have come. */
static void hear_heads(int fd, int wanted)
{
    char byte, last[4] = "";
    while (wanted > 0 && read(fd, &byte, 1) == 1) {
        memmove(last, last + 1, 3);
        last[3] = byte;
        wanted -= memcmp(last, "\r\n\r\n", 4) == 0;
    }
}

static void byte_by_byte(int fd)
{
    const char *text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length:  5\r\n"
                       "X-Other: a:b\r\n\r\nfirst"
                       "HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/problem+json; "
                       "charset=utf-8\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n";
    hear_heads(fd, 2);
    for (; *text != '\0'; text++)
        CHECK(write(fd, text, 1) == 1);
    hear_heads(fd, 1);
}

static void test_pieces(void)
{
    char url[64];
    struct client client;
    struct client_answer answer;
    struct client_request request = { .method = "GET", .target = "/a" };
    pid_t pid = serve(byte_by_byte, url);
    CHECK(client_init(&client, url, TIMEOUT_MS));
    CHECK(client_queue(&client, &request) == 0 && client_queue(&client, &request) == 0);
    CHECK(client.pending == 2);
    CHECK(client_read(&client, &answer) == 0);
    CHECK(answer.status == 200 && answer.body_count == 5 && memcmp(answer.body, "first", 5) == 0);
    CHECK(!answer.is_problem && answer.retry_after == 0);
    CHECK(client_read(&client, &answer) == 0);
    CHECK(answer.status == 429 && answer.body_count == 0 && answer.is_problem);
    CHECK(answer.retry_after == 7 && client.pending == 0);
    client_close(&client);
    waitpid(pid, NULL, 0);
}

/* Reads nothing more until its answers are taken, as perpd does when its output is full. */
static void one_by_one(int fd)
{
    char buffer[BODY_BYTES];
    char answer[BODY_BYTES * 4];
    memset(answer, 'x', sizeof answer);
    for (int i = 0; i < REQUESTS; i++) {
        hear_heads(fd, 1);
        for (size_t got = 0; got < BODY_BYTES;) {
            ssize_t count = read(fd, buffer, BODY_BYTES - got);
            CHECK(count > 0);
            got += (size_t)count;
        }
        char head[128];
        snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nX: %d\r\n\r\n",
                 sizeof answer, i);
        say(fd, head);
        for (size_t at = 0; at < sizeof answer;) {
            ssize_t count = write(fd, answer + at, sizeof answer - at);
            CHECK(count > 0);
            at += (size_t)count;
        }
    }
}

/* 5,000 requests in one pipeline: 2.5 MB out and 8 MB back would lock up a client that sends all
 * before it reads. */
static void test_long_pipeline(void)
{
    char url[64], body[BODY_BYTES];
    struct client client;
    struct client_answer answer;
    memset(body, 'y', sizeof body);
    struct client_request request = { .method = "POST",
                                      .target = "/b",
                                      .content_type = "application/json",
                                      .body = body,
                                      .body_count = sizeof body };
    pid_t pid = serve(one_by_one, url);
    CHECK(client_init(&client, url, TIMEOUT_MS));
    for (int i = 0; i < REQUESTS; i++)
        CHECK(client_queue(&client, &request) == 0);
    for (int i = 0; i < REQUESTS; i++) {
        CHECK(client_read(&client, &answer) == 0);
        CHECK(answer.status == 200 && answer.body_count == BODY_BYTES * 4);
    }
    client_close(&client);
    waitpid(pid, NULL, 0);
}

static void answers_then_closes(int fd)
{
    hear_heads(fd, 1);
    say(fd, "HTTP/1.1 413 Payload Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}");
}

static void half_an_answer(int fd)
{
    hear_heads(fd, 1);
    say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
}

static void silence(int fd)
{
    hear_heads(fd, 2);
}

static void no_length(int fd)
{
    hear_heads(fd, 1);
    say(fd, "HTTP/1.1 200 OK\r\n\r\n");
}

static void chunked(int fd)
{
    hear_heads(fd, 1);
    say(fd, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
}

static void bad_length(int fd)
{
    hear_heads(fd, 1);
    say(fd, "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n");
}

static void huge_length(int fd)
{
    hear_heads(fd, 1);
    say(fd, "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n");
}

static const struct {
    int line;
    const char *name;
    script *run;
    int want; /* of client_call */
} ends[] = {
    { __LINE__, "an answer before the close counts", answers_then_closes, 0 },
    { __LINE__, "closed inside an answer", half_an_answer, -ECONNRESET },
    { __LINE__, "no answer", silence, -ETIMEDOUT },
    { __LINE__, "no length", no_length, -EPROTO },
    { __LINE__, "chunked", chunked, -EPROTO },
    { __LINE__, "negative length", bad_length, -EPROTO },
    { __LINE__, "too long", huge_length, -EMSGSIZE },
};

static void test_ends(void)
{
    for (size_t i = 0; i < CC_COUNT(ends); i++) {
        char url[64];
        struct client client;
        struct client_answer answer;
        struct client_request request = { .method = "GET", .target = "/c" };
        pid_t pid = serve(ends[i].run, url);
        CHECK_ROW(&ends[i], client_init(&client, url, 300));
        CHECK_ROW(&ends[i], client_call(&client, &request, &answer) == ends[i].want);
        /* Every failure says something and closes: the next call begins afresh. */
        CHECK_ROW(&ends[i], (ends[i].want == 0) == (client.error[0] == '\0'));
        CHECK_ROW(&ends[i], (ends[i].want == 0) == (client.fd >= 0));
        client_close(&client);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
    }
}

static const struct {
    int line;
    const char *name;
    const char *url;
    const char *host; /* NULL: refused */
    const char *port;
} urls[] = {
    { __LINE__, "plain", "http://127.0.0.1:8080", "127.0.0.1", "8080" },
    { __LINE__, "slash", "http://localhost:1/", "localhost", "1" },
    { __LINE__, "default port", "http://example.com", "example.com", "80" },
    { __LINE__, "IPv6", "http://[::1]:8080", "::1", "8080" },
    { __LINE__, "IPv6 default port", "http://[::1]", "::1", "80" },
    { __LINE__, "https", "https://127.0.0.1:8443/", "127.0.0.1", "8443" },
    { __LINE__, "https, default port", "https://example.com", "example.com", "443" },
    { __LINE__, "no host, https", "https://:1", NULL, NULL },
    { __LINE__, "no scheme", "127.0.0.1:8080", NULL, NULL },
    { __LINE__, "a path", "http://h/api", NULL, NULL },
    { __LINE__, "port of letters", "http://h:http", NULL, NULL },
    { __LINE__, "no port", "http://h:", NULL, NULL },
    { __LINE__, "no host", "http://:80", NULL, NULL },
    { __LINE__, "empty", "", NULL, NULL },
};

static void test_urls(void)
{
    for (size_t i = 0; i < CC_COUNT(urls); i++) {
        struct client client;
        bool good = client_init(&client, urls[i].url, TIMEOUT_MS);
        CHECK_ROW(&urls[i], good == (urls[i].host != NULL));
        if (good)
            CHECK_ROW(&urls[i], strcmp(client.host, urls[i].host) == 0 &&
                                    strcmp(client.port, urls[i].port) == 0);
        else
            CHECK_ROW(&urls[i], client.error[0] != '\0');
    }
}

int main(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    test_urls();
    test_pieces();
    test_long_pipeline();
    test_ends();
    return 0;
}
