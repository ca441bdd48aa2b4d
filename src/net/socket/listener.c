#include "net/socket/listener.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/host.h"

enum { ADDRESS_MAX = 256 };

/* Splits "host:port" or "[host]:port" into zero-terminated parts. */
static bool split(const char *address, char host[ADDRESS_MAX], const char **port)
{
    if (!host_has_port(address))
        return false;
    const char *colon = strrchr(address, ':');
    const char *first = address;
    const char *last = colon;
    if (*first == '[') {
        if (last[-1] != ']')
            return false;
        first++;
        last--;
    }
    size_t count = (size_t)(last - first);
    if (last <= first || count >= ADDRESS_MAX)
        return false;
    memcpy(host, first, count);
    host[count] = '\0';
    *port = colon + 1;
    return true;
}

/* How a listener gets its port. */
enum sharing {
    ALONE,
    FIRST, /* of several: the port must be free for it, and taken for the others */
    JOINS,
};

static int set(int file, int level, int option, int value)
{
    return setsockopt(file, level, option, &value, sizeof value) == 0 ? 0 : -errno;
}

/* Setting SO_REUSEPORT before bind would let the first socket join the port of another perpd of
 * this user. Set after bind, the port is ours, and later sockets can join it. */
static int bind_and_listen(int file, const struct sockaddr *address, socklen_t bytes,
                           enum sharing sharing)
{
    int error = set(file, SOL_SOCKET, SO_REUSEADDR, 1);
    if (error == 0)
        error = set(file, IPPROTO_TCP, TCP_NODELAY, 1);
    if (error == 0)
        error = set(file, SOL_SOCKET, SO_RCVBUF, LISTENER_RECEIVE_BYTES);
    if (error == 0 && sharing == JOINS)
        error = set(file, SOL_SOCKET, SO_REUSEPORT, 1);
    if (error == 0 && bind(file, address, bytes) != 0)
        error = -errno;
    if (error == 0 && sharing == FIRST)
        error = set(file, SOL_SOCKET, SO_REUSEPORT, 1);
    if (error == 0 && listen(file, LISTENER_BACKLOG) != 0)
        error = -errno;
    return error;
}

/* The bound address, for the line `ready http://HOST:PORT`. */
static int read_name(struct listener *listener)
{
    struct sockaddr_storage name;
    socklen_t length = sizeof name;
    char host[LISTENER_HOST_MAX - 2], port[8];
    if (getsockname(listener->file, (struct sockaddr *)&name, &length) != 0)
        return -errno;
    if (getnameinfo((const struct sockaddr *)&name, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return -EINVAL;
    unsigned number = 0;
    for (const char *at = port; *at != '\0'; at++)
        number = number * 10 + (unsigned)(*at - '0');
    listener->port = (uint16_t)number;
    size_t count = strlen(host);
    char *out = listener->host;
    if (name.ss_family == AF_INET6)
        *out++ = '[';
    memcpy(out, host, count);
    out += count;
    if (name.ss_family == AF_INET6)
        *out++ = ']';
    *out = '\0';
    return 0;
}

static int open_at(struct listener *listener, const struct sockaddr *address, socklen_t bytes,
                   enum sharing sharing)
{
    listener->file = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP);
    if (listener->file < 0)
        return -errno;
    int error = bind_and_listen(listener->file, address, bytes, sharing);
    if (error == 0)
        error = read_name(listener);
    if (error != 0)
        listener_close(listener);
    return error;
}

int listener_open(struct listener *listener, const char *address, bool shared)
{
    char host[ADDRESS_MAX];
    const char *port;
    struct addrinfo *found = NULL;
    const struct addrinfo hints = {
        .ai_socktype = SOCK_STREAM,
        .ai_flags = AI_NUMERICSERV | AI_PASSIVE,
    };
    *listener = (struct listener){ .file = -1 };
    if (!split(address, host, &port) || getaddrinfo(host, port, &hints, &found) != 0)
        return -EINVAL;
    int error = open_at(listener, found->ai_addr, found->ai_addrlen, shared ? FIRST : ALONE);
    freeaddrinfo(found);
    return error;
}

int listener_join(struct listener *listener, const struct listener *first)
{
    struct sockaddr_storage name;
    socklen_t bytes = sizeof name;
    *listener = (struct listener){ .file = -1 };
    if (getsockname(first->file, (struct sockaddr *)&name, &bytes) != 0)
        return -errno;
    return open_at(listener, (const struct sockaddr *)&name, bytes, JOINS);
}

void listener_close(struct listener *listener)
{
    if (listener->file >= 0)
        (void)close(listener->file);
    listener->file = -1;
}
