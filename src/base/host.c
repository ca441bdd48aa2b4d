#include "base/host.h"

#include "base/comma_list.h"
#include "base/text.h"

static bool is_name_byte(char c)
{
    return text_is_digit(c) || (text_lower(c) >= 'a' && text_lower(c) <= 'z') || c == '.' ||
           c == '-' || c == '_';
}

static bool is_address_byte(char c)
{
    return text_is_digit(c) || (text_lower(c) >= 'a' && text_lower(c) <= 'f') || c == ':' ||
           c == '.';
}

/* The bytes of the host at the front of `text`; 0 if there is none. */
static size_t host_bytes(const char *text, size_t count)
{
    size_t at = 0;
    if (count > 0 && text[0] == '[') {
        at = 1;
        while (at < count && is_address_byte(text[at]))
            at++;
        return at > 1 && at < count && text[at] == ']' ? at + 1 : 0;
    }
    while (at < count && is_name_byte(text[at]))
        at++;
    return at;
}

static bool add(struct host_list *list, const char *text, size_t count)
{
    if (count == 0 || count > HOST_BYTES_MAX || list->count == HOST_LIST_MAX ||
        host_bytes(text, count) != count)
        return false;
    list->hosts[list->count++] = (struct host_name){ .text = text, .count = (uint32_t)count };
    return true;
}

bool host_list_add(struct host_list *list, const char *text)
{
    struct comma_list hosts = comma_list_of(text, strlen(text));
    const char *host;
    size_t count;

    while (comma_list_next(&hosts, &host, &count))
        if (!add(list, host, count))
            return false;
    return true;
}

bool host_list_add_address(struct host_list *list, const char *address)
{
    const char *colon = strrchr(address, ':');
    return colon != NULL && add(list, address, (size_t)(colon - address));
}

bool host_list_has(const struct host_list *list, const char *text, size_t count)
{
    size_t bytes = host_bytes(text, count);
    if (bytes == 0)
        return false;
    for (size_t at = bytes; at < count; at++) /* nothing, or a colon and a port */
        if (at == bytes ? text[at] != ':' : !text_is_digit(text[at]))
            return false;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct host_name *host = &list->hosts[i];
        if (host->count == bytes && text_is_equal_folded(text, host->text, bytes))
            return true;
    }
    return false;
}

bool host_has_port(const char *address)
{
    const char *colon = strrchr(address, ':');
    unsigned number = 0;

    if (colon == NULL || colon == address || colon[1] == '\0')
        return false;
    for (const char *at = colon + 1; *at != '\0'; at++) {
        number = number * 10 + (unsigned)(*at - '0');
        if (!text_is_digit(*at) || number > UINT16_MAX)
            return false;
    }
    return true;
}

/* A name like 127.example is none: the address is digits and dots. */
bool host_is_loopback(const char *address)
{
    const char *colon = strrchr(address, ':');
    size_t count = colon != NULL ? (size_t)(colon - address) : strlen(address);
    if (strncmp(address, "127.", 4) == 0)
        return strspn(address, "0123456789.") == count;
    return (count == 9 && memcmp(address, "localhost", 9) == 0) ||
           (count == 5 && memcmp(address, "[::1]", 5) == 0);
}

bool host_is_wildcard(const char *address)
{
    const char *colon = strrchr(address, ':');
    size_t count = colon != NULL ? (size_t)(colon - address) : strlen(address);
    if (count > 2 && address[0] == '[' && address[count - 1] == ']') {
        address++;
        count -= 2;
        if (count > 7 && memcmp(address, "::", 2) == 0 && address[6] == ':' &&
            text_lower(address[2]) == 'f' && text_lower(address[3]) == 'f' &&
            text_lower(address[4]) == 'f' &&
            text_lower(address[5]) == 'f') { /* an IPv4 address written as IPv6 */
            address += 7;
            count -= 7;
        }
    }
    return count > 0 && strspn(address, "0:.xX") >= count;
}
