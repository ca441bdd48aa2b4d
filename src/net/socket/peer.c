#include "net/socket/peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/comma_list.h"

struct peer peer_of_ipv4(const uint8_t bytes[PEER_IPV4_BYTES])
{
    struct peer peer = { .bytes = { [10] = 0xff, [11] = 0xff } };
    memcpy(peer.bytes + PEER_BYTES - PEER_IPV4_BYTES, bytes, PEER_IPV4_BYTES);
    return peer;
}

bool peer_of_socket(int file, struct peer *peer)
{
    struct sockaddr_storage name;
    socklen_t bytes = sizeof name;
    *peer = (struct peer){ 0 };
    if (getpeername(file, (struct sockaddr *)&name, &bytes) != 0)
        return false;
    if (name.ss_family == AF_INET) {
        struct sockaddr_in ipv4;
        uint8_t address[PEER_IPV4_BYTES];
        memcpy(&ipv4, &name, sizeof ipv4);
        memcpy(address, &ipv4.sin_addr, sizeof address);
        *peer = peer_of_ipv4(address);
        return true;
    }
    if (name.ss_family != AF_INET6)
        return false;
    struct sockaddr_in6 ipv6;
    memcpy(&ipv6, &name, sizeof ipv6);
    memcpy(peer->bytes, &ipv6.sin6_addr, PEER_BYTES);
    return true;
}

static bool read_one(const char *text, struct peer *peer)
{
    uint8_t ipv4[PEER_IPV4_BYTES];
    if (inet_pton(AF_INET, text, ipv4) == 1) {
        *peer = peer_of_ipv4(ipv4);
        return true;
    }
    return inet_pton(AF_INET6, text, peer->bytes) == 1;
}

bool peer_list_read(struct peer_list *list, const char *text)
{
    struct comma_list peers = comma_list_of(text, strlen(text));
    char one[INET6_ADDRSTRLEN];
    const char *peer;
    size_t count;

    list->count = 0;
    if (text[0] == '\0')
        return true;
    while (comma_list_next(&peers, &peer, &count)) {
        if (count >= sizeof one || list->count == PEER_LIST_MAX)
            return false;
        memcpy(one, peer, count);
        one[count] = '\0';
        if (!read_one(one, &list->peers[list->count++]))
            return false;
    }
    return true;
}

bool peer_list_has(const struct peer_list *list, const struct peer *peer)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (memcmp(&list->peers[i], peer, sizeof *peer) == 0)
            return true;
    return false;
}
