#include "perp/request/client.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "perp/request/client_tls.h"
#include "perp/request/instant.h"
#include "perp/request/plain_text.h"

enum { READ_BYTES = 65536, SWITCHING = 101 };

CC_PRINTF(3, 4) static int fail(struct client *client, int error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(client->error, sizeof client->error, format, arguments);
    va_end(arguments);
    client_close(client);
    return error;
}

/* Room for `count` more bytes; false when memory is short. */
static bool reserve(struct client_buffer *buffer, size_t count)
{
    if (buffer->begin > 0 && buffer->capacity - buffer->end < count) {
        memmove(buffer->bytes, buffer->bytes + buffer->begin, buffer->end - buffer->begin);
        buffer->end -= buffer->begin;
        buffer->begin = 0;
    }
    if (buffer->capacity - buffer->end >= count)
        return true;
    size_t capacity = buffer->capacity == 0 ? READ_BYTES : buffer->capacity;
    while (capacity - buffer->end < count)
        capacity *= 2;
    uint8_t *bytes = realloc(buffer->bytes, capacity);
    if (bytes == NULL)
        return false;
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

static void release(struct client_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct client_buffer){ 0 };
}

/* Reads one address. False for any other text; the client is then as before. */
static bool read_address(struct client *client, const char *url, size_t url_count)
{
    bool is_secure = strncmp(url, "https://", 8) == 0;
    bool is_plain = strncmp(url, "http://", 7) == 0;
    size_t skip = is_secure ? 8 : 7;
    size_t count = url_count - (url_count > skip && url[url_count - 1] == '/');
    char authority[CLIENT_HOST_MAX];

    if ((!is_secure && !is_plain) || count <= skip || count - skip >= sizeof authority ||
        memchr(url + skip, '/', count - skip) != NULL)
        return false;
    memcpy(authority, url + skip, count - skip);
    authority[count - skip] = '\0';
    char *colon = strrchr(authority, ':');
    bool bracketed = authority[0] == '[';
    const char *bracket = strchr(authority, ']');
    if (bracketed && colon != NULL && bracket != NULL && colon < bracket)
        colon = NULL;
    size_t host_count = colon != NULL ? (size_t)(colon - authority) : count - skip;
    const char *port = colon != NULL ? colon + 1 : is_secure ? "443" : "80";
    if (strlen(port) == 0 || strlen(port) >= sizeof client->port || host_count == 0 ||
        strspn(port, "0123456789") != strlen(port))
        return false;
    bool brackets = bracketed && host_count > 2;
    client->is_secure = is_secure;
    snprintf(client->authority, sizeof client->authority, "%s", authority);
    snprintf(client->host, sizeof client->host, "%.*s", (int)(host_count - 2 * (size_t)brackets),
             authority + brackets);
    snprintf(client->port, sizeof client->port, "%s", port);
    return true;
}

bool client_init(struct client *client, const char *url, uint32_t timeout_ms)
{
    *client = (struct client){ .fd = -1, .timeout_ms = timeout_ms };
    size_t at = strlen(url);
    bool is_list = at < sizeof client->list;

    /* From the last to the first, which is the one in use then. */
    while (is_list && at > 0) {
        size_t end = at;
        while (at > 0 && url[at - 1] != ',')
            at--;
        is_list = read_address(client, url + at, end - at) && at != 1;
        at -= at > 0;
    }
    if (is_list && url[0] != '\0') {
        memcpy(client->list, url, strlen(url) + 1);
        client->next = strcspn(url, ",");
        return true;
    }
    snprintf(client->error, sizeof client->error,
             "'%.300s' is not an address: write http://HOST:PORT or https://HOST:PORT", url);
    return false;
}

bool client_has_more(const struct client *client)
{
    return strchr(client->list, ',') != NULL;
}

void client_next(struct client *client)
{
    const char *text = client->list;

    client_close(client);
    client->next = text[client->next] == ',' ? client->next + 1 : 0;
    size_t count = strcspn(text + client->next, ",");
    bool is_read = read_address(client, text + client->next, count);
    INVARIANT(is_read); /* client_init has read it */
    client->next += count;
}

bool client_follow(struct client *client, const char *leader)
{
    char url[CLIENT_LEADER_MAX + 8];

    snprintf(url, sizeof url, "http%s://%s", client->is_secure ? "s" : "", leader);
    if (!read_address(client, url, strlen(url)))
        return false;
    client_close(client);
    return true;
}

bool client_read_token(struct client *client, const char *data)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/admin.token", data);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = file < 0 ? -1 : read(file, client->bearer, CLIENT_BEARER_MAX);
    int error = errno;
    if (file >= 0)
        close(file);
    if (count == CLIENT_BEARER_MAX &&
        strspn(client->bearer, "0123456789abcdefABCDEF") == CLIENT_BEARER_MAX)
        return true;
    client->bearer[0] = '\0';
    snprintf(client->error, sizeof client->error, "%.300s: %s", path,
             count < 0 ? strerror(error) : "not the token of the admin pages");
    return false;
}

/* Waits for `events`. 0, or -ETIMEDOUT or another -errno. */
static int await(int fd, short events, uint32_t timeout_ms)
{
    struct pollfd poll_fd = { .fd = fd, .events = events };
    int ready;
    do
        ready = poll(&poll_fd, 1, (int)timeout_ms);
    while (ready < 0 && errno == EINTR);
    if (ready < 0)
        return -errno;
    return ready == 0 ? -ETIMEDOUT : 0;
}

static int connect_to(const struct addrinfo *address, uint32_t timeout_ms)
{
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int error = connect(fd, address->ai_addr, address->ai_addrlen) == 0 ? 0 : -errno;
    if (error == -EINPROGRESS) {
        error = await(fd, POLLOUT, timeout_ms);
        int pending = 0;
        socklen_t count = sizeof pending;
        if (error == 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &pending, &count) == 0)
            error = -pending;
    }
    if (error != 0) {
        close(fd);
        return error;
    }
    int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

static int open_tls(struct client *client)
{
    char error[CLIENT_TLS_ERROR_MAX];
    const struct client_tls_peer peer = { client->host, client->authority, client->ca,
                                          client->timeout_ms };
    client->tls = client_tls_open(client->fd, &peer, error);
    return client->tls != NULL ? 0 : fail(client, -EPROTO, "%s", error);
}

int client_connect(struct client *client)
{
    if (client->fd >= 0)
        return 0;
    struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM }, *list = NULL;
    int code = getaddrinfo(client->host, client->port, &hints, &list);
    if (code != 0)
        return fail(client, -EHOSTUNREACH, "cannot find the host '%s': %s", client->host,
                    gai_strerror(code));
    int result = -EHOSTUNREACH;
    for (const struct addrinfo *address = list; address != NULL; address = address->ai_next) {
        result = connect_to(address, client->timeout_ms);
        if (result >= 0)
            break;
    }
    freeaddrinfo(list);
    if (result == -ECONNREFUSED)
        return fail(client, result, "nothing listens at %s: is perpd running there?",
                    client->authority);
    if (result < 0)
        return fail(client, result, "cannot connect to %s: %s", client->authority,
                    strerror(-result));
    client->fd = result;
    return client->is_secure ? open_tls(client) : 0;
}

static bool put(struct client *client, const void *bytes, size_t count)
{
    if (!reserve(&client->out, count))
        return false;
    if (count > 0)
        memcpy(client->out.bytes + client->out.end, bytes, count);
    client->out.end += count;
    return true;
}

int client_queue(struct client *client, const struct client_request *request)
{
    char head[2048];
    int count = snprintf(
        head, sizeof head, "%s %s HTTP/1.1\r\nHost: %s\r\n%s%s%s%s%s%s%s%s%s%s", request->method,
        request->target, client->authority, request->headers != NULL ? request->headers : "",
        client->bearer[0] != '\0' ? "Authorization: Bearer " : "", client->bearer,
        client->bearer[0] != '\0' ? "\r\n" : "", request->api_key != NULL ? "X-API-KEY: " : "",
        request->api_key != NULL ? request->api_key : "", request->api_key != NULL ? "\r\n" : "",
        request->content_type != NULL ? "Content-Type: " : "",
        request->content_type != NULL ? request->content_type : "",
        request->content_type != NULL ? "\r\n" : "");
    if (count < 0 || (size_t)count >= sizeof head - 64)
        return fail(client, -EMSGSIZE, "the request line and headers are too long");
    if (request->content_type != NULL)
        count += snprintf(head + count, sizeof head - (size_t)count, "Content-Length: %zu\r\n",
                          request->body_count);
    memcpy(head + count, "\r\n", 2);
    size_t body_count = request->content_type != NULL ? request->body_count : 0;
    if (!put(client, head, (size_t)count + 2) || !put(client, request->body, body_count))
        return fail(client, -ENOMEM, "out of memory");
    client->pending++;
    return 0;
}

static int send_some(struct client *client)
{
    struct client_buffer *out = &client->out;
    const uint8_t *bytes = out->bytes + out->begin;
    size_t unsent = out->end - out->begin;
    ssize_t count = client->tls != NULL ? client_tls_send(client->tls, bytes, unsent)
                                        : send(client->fd, bytes, unsent, MSG_NOSIGNAL);
    if (count < 0 && client->tls != NULL)
        return (int)count;
    if (count < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    out->begin += (size_t)count;
    if (out->begin == out->end)
        out->begin = out->end = 0;
    return 0;
}

/* 1: bytes came, 0: none yet, -ECONNRESET: the peer closed. */
static int receive_some(struct client *client)
{
    struct client_buffer *in = &client->in;
    if (!reserve(in, READ_BYTES))
        return -ENOMEM;
    if (client->tls != NULL) {
        ssize_t count = client_tls_receive(client->tls, in->bytes + in->end, READ_BYTES);
        in->end += count > 0 ? (size_t)count : 0;
        return count > 0 ? 1 : (int)count;
    }
    ssize_t count = recv(client->fd, in->bytes + in->end, in->capacity - in->end, 0);
    if (count == 0)
        return -ECONNRESET;
    if (count < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    in->end += (size_t)count;
    return 1;
}

/* ms until then, rounded up; 0: it has come. */
static uint32_t left_ms(uint64_t until_ns)
{
    uint64_t now_ns = instant_monotonic_ns();
    return now_ns >= until_ns ? 0 : (uint32_t)((until_ns - now_ns + 999999) / 1000000);
}

/* One turn of sending and receiving, until then at most. 0 or -errno. */
static int pump(struct client *client, uint64_t until_ns)
{
    uint32_t wait_ms = left_ms(until_ns);
    if (wait_ms == 0)
        return -ETIMEDOUT;
    bool unsent = client->out.begin < client->out.end;
    if (unsent) {
        int error = send_some(client);
        /* A server that refuses early closes after its answer: read that first. */
        if (error != 0 && error != -EPIPE && error != -ECONNRESET)
            return error;
        if (error != 0)
            client->out.begin = client->out.end = 0;
        unsent = client->out.begin < client->out.end;
    }
    int received = receive_some(client);
    if (received != 0)
        return received < 0 ? received : 0;
    return await(client->fd, (short)(POLLIN | (unsent ? POLLOUT : 0)), wait_ms);
}

/* Reads a decimal header value; false when it is none. */
static bool header_number(const char *text, size_t count, uint64_t *value)
{
    uint64_t number = 0;
    if (count == 0 || count > 18)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    *value = number;
    return true;
}

static bool header_is(const char *line, size_t name_count, const char *name)
{
    return strlen(name) == name_count && strncasecmp(line, name, name_count) == 0;
}

/* Is a Content-Type this one, whatever its parameters. */
static bool type_is(const char *value, size_t value_count, const char *type)
{
    size_t count = strlen(type);
    return value_count >= count && strncasecmp(value, type, count) == 0;
}

struct head {
    struct client_answer answer;
    size_t head_count; /* with the empty line */
    uint64_t body_count;
    bool has_length, is_chunked, closes;
};

static bool read_header(struct head *head, const char *line, size_t count)
{
    const char *colon = memchr(line, ':', count);
    if (colon == NULL)
        return false;
    size_t name_count = (size_t)(colon - line);
    const char *value = colon + 1;
    while (value < line + count && (*value == ' ' || *value == '\t'))
        value++;
    size_t value_count = (size_t)(line + count - value);
    if (header_is(line, name_count, "Content-Length")) {
        head->has_length = true;
        return header_number(value, value_count, &head->body_count);
    }
    if (header_is(line, name_count, "Content-Type")) {
        head->answer.is_problem = type_is(value, value_count, "application/problem+json");
        head->answer.is_binary = type_is(value, value_count, "application/octet-stream");
    } else if (header_is(line, name_count, "Transfer-Encoding"))
        head->is_chunked = true;
    else if (header_is(line, name_count, "Connection"))
        head->closes = value_count == 5 && strncasecmp(value, "close", 5) == 0;
    else if (header_is(line, name_count, "Retry-After"))
        (void)header_number(value, value_count, &head->answer.retry_after);
    else if (header_is(line, name_count, "X-Staleness-Ms"))
        head->answer.is_replica = true;
    else if (header_is(line, name_count, "X-Leader") && value_count < CLIENT_LEADER_MAX &&
             !text_has_control(value, value_count))
        memcpy(head->answer.leader, value, value_count);
    else if (header_is(line, name_count, "Sec-WebSocket-Accept") && value_count < CLIENT_ACCEPT_MAX)
        memcpy(head->answer.accept, value, value_count);
    return true;
}

/* 1: a whole head was read, 0: not all there yet, -EPROTO: not HTTP. */
static int read_head(const struct client_buffer *in, struct head *head)
{
    *head = (struct head){ 0 };
    const char *text = (const char *)in->bytes + in->begin;
    size_t count = in->end - in->begin;
    const char *end = count != 0 ? memmem(text, count, "\r\n\r\n", 4) : NULL;
    if (end == NULL)
        return count > CLIENT_HEAD_MAX ? -EPROTO : 0;
    head->head_count = (size_t)(end - text) + 4;
    uint64_t status;
    if (head->head_count < 16 || strncmp(text, "HTTP/1.", 7) != 0 ||
        !header_number(text + 9, 3, &status))
        return -EPROTO;
    head->answer.status = (uint32_t)status;
    const char *line = memmem(text, head->head_count, "\r\n", 2);
    for (line += 2; line < end;) {
        const char *stop = memmem(line, (size_t)(end + 2 - line), "\r\n", 2);
        if (!read_header(head, line, (size_t)(stop - line)))
            return -EPROTO;
        line = stop + 2;
    }
    return 1;
}

/* 1: `answer` is whole, 0: more bytes are needed, -errno. */
static int read_answer(struct client *client, struct head *head)
{
    for (;;) {
        int state = read_head(&client->in, head);
        if (state <= 0)
            return state;
        if (head->answer.status >= 200 || head->answer.status == SWITCHING)
            break;
        client->in.begin += head->head_count;
    }
    if (head->is_chunked ||
        (!head->has_length && head->answer.status != 204 && head->answer.status != SWITCHING))
        return -EPROTO;
    if (head->body_count > CLIENT_ANSWER_MAX)
        return -EMSGSIZE;
    size_t whole = head->head_count + head->body_count;
    if (client->in.end - client->in.begin < whole)
        return 0;
    char *body = (char *)client->in.bytes + client->in.begin + head->head_count;
    if (!head->answer.is_binary)
        plain_text_make(body, head->body_count);
    head->answer.body = body;
    head->answer.body_count = head->body_count;
    client->taken = whole;
    return 1;
}

int client_read(struct client *client, struct client_answer *answer)
{
    INVARIANT(client->pending > 0);
    client->in.begin += client->taken;
    client->taken = 0;
    int error = client_connect(client);
    uint64_t until_ns = instant_monotonic_ns() + (uint64_t)client->timeout_ms * 1000000;
    for (; error == 0; error = pump(client, until_ns)) {
        struct head head;
        int state = read_answer(client, &head);
        if (state == 1) {
            *answer = head.answer;
            client->pending--;
            return 0;
        }
        if (state == -EMSGSIZE)
            return fail(client, state, "%s sent an answer of %llu bytes; at most %d are read",
                        client->authority, (unsigned long long)head.body_count, CLIENT_ANSWER_MAX);
        if (state < 0)
            return fail(client, state, "%s answered something that is no HTTP/1.1 answer",
                        client->authority);
    }
    if (client->fd < 0)
        return error; /* client_connect set the error */
    if (error == -ETIMEDOUT)
        return fail(client, error, "%s sent no answer within %u ms", client->authority,
                    client->timeout_ms);
    if (error == -ECONNRESET)
        return fail(client, error, "%s closed the connection before the answer", client->authority);
    return fail(client, error, "connection to %s: %s", client->authority, strerror(-error));
}

int client_call(struct client *client, const struct client_request *request,
                struct client_answer *answer)
{
    int error = client_connect(client);
    if (error == 0)
        error = client_queue(client, request);
    return error != 0 ? error : client_read(client, answer);
}

/* ---- another protocol ------------------------------------------------------------------------ */

size_t client_take(struct client *client, void *bytes, size_t capacity)
{
    struct client_buffer *in = &client->in;
    in->begin += client->taken;
    client->taken = 0;
    size_t count = in->end - in->begin;
    if (count > capacity)
        count = capacity;
    if (count != 0)
        memcpy(bytes, in->bytes + in->begin, count);
    in->begin += count;
    return count;
}

int client_put(struct client *client, const void *bytes, size_t count)
{
    return put(client, bytes, count) ? 0 : -ENOMEM;
}

/* Sends and receives as far as it goes now. 1: bytes came, 0: none, or -errno. */
static int exchange(struct client *client)
{
    int error = client->out.begin < client->out.end ? send_some(client) : 0;
    return error != 0 ? error : receive_some(client);
}

int client_await(struct client *client, const sigset_t *mask, uint32_t wait_ms)
{
    const struct timespec wait = { .tv_sec = wait_ms / 1000,
                                   .tv_nsec = (long)(wait_ms % 1000) * 1000000 };
    int came = exchange(client);
    if (came == 0) {
        bool unsent = client->out.begin < client->out.end;
        struct pollfd poll_fd = { .fd = client->fd,
                                  .events = (short)(POLLIN | (unsent ? POLLOUT : 0)) };
        int ready = ppoll(&poll_fd, 1, &wait, mask);
        if (ready < 0 && errno == EINTR)
            return -EINTR;
        if (ready == 0)
            return -ETIMEDOUT;
        came = ready < 0 ? -errno : exchange(client);
    }
    if (came >= 0)
        return 0;
    if (came == -ECONNRESET || came == -EPIPE)
        return fail(client, came, "%s closed the connection", client->authority);
    return fail(client, came, "connection to %s: %s", client->authority, strerror(-came));
}

void client_close(struct client *client)
{
    client_tls_close(client->tls);
    client->tls = NULL;
    if (client->fd >= 0)
        close(client->fd);
    client->fd = -1;
    client->pending = 0;
    client->taken = 0;
    release(&client->out);
    release(&client->in);
}
