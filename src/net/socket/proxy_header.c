#include "net/socket/proxy_header.h"

enum {
    SIGNATURE_BYTES = 12,
    HEAD_BYTES = 16,     /* signature, version and command, family, length */
    ADDRESSES_IPV4 = 12, /* source, destination, ports */
    ADDRESSES_IPV6 = 36,
    COMMAND_LOCAL = 0x20, /* with the version, 2 */
    COMMAND_PROXY = 0x21,
    FAMILY_UNSPECIFIED = 0x00,
    FAMILY_TCP_IPV4 = 0x11,
    FAMILY_TCP_IPV6 = 0x21,
    FAMILY_UNIX_STREAM = 0x31,
};

static bool decode_addresses(uint8_t family, const uint8_t *bytes, size_t count, struct peer *peer)
{
    switch (family) {
    case FAMILY_UNSPECIFIED:
    case FAMILY_UNIX_STREAM:
        return true;
    case FAMILY_TCP_IPV4:
        if (count < ADDRESSES_IPV4)
            return false;
        *peer = peer_of_ipv4(bytes);
        return true;
    case FAMILY_TCP_IPV6:
        if (count < ADDRESSES_IPV6)
            return false;
        memcpy(peer->bytes, bytes, PEER_BYTES);
        return true;
    default:
        return false;
    }
}

int proxy_header_read(const void *bytes, size_t count, struct peer *peer)
{
    static const uint8_t signature[SIGNATURE_BYTES] = "\r\n\r\n\0\r\nQUIT\n";
    const uint8_t *at = bytes;
    size_t known = count < SIGNATURE_BYTES ? count : SIGNATURE_BYTES;
    if (memcmp(at, signature, known) != 0)
        return -1;
    if (count < HEAD_BYTES)
        return 0;
    size_t rest = (size_t)at[14] << 8 | at[15];
    if ((at[12] != COMMAND_LOCAL && at[12] != COMMAND_PROXY) ||
        HEAD_BYTES + rest > PROXY_HEADER_MAX)
        return -1;
    if (count < HEAD_BYTES + rest)
        return 0;
    if (at[12] == COMMAND_PROXY && !decode_addresses(at[13], at + HEAD_BYTES, rest, peer))
        return -1;
    return (int)(HEAD_BYTES + rest);
}
