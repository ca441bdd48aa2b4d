#include "base/relying_party.h"

#include <stdio.h>

#include "base/comma_list.h"
#include "base/origin.h"
#include "base/text.h"

#define LOCAL_ID     "localhost"
#define LOCAL_ORIGIN "http://localhost:8080"

enum { LABEL_MAX = 63, PORT_DIGITS_MAX = 5, PORT_MAX = 65535 };

static_assert(sizeof "https://" - 1 + RELYING_PARTY_ID_MAX + 1 + PORT_DIGITS_MAX <=
                  RELYING_PARTY_ORIGIN_MAX,
              "every origin fits");

static bool is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

/* Whether the text is a domain name in lower case: labels of letters, digits and inner hyphens. The
 * last label begins with a letter, so an IP address is none. */
static bool is_domain(const char *text, size_t count)
{
    size_t label = 0; /* first character of the current label */
    if (count == 0 || count > RELYING_PARTY_ID_MAX)
        return false;
    for (size_t i = 0; i <= count; i++) {
        if (i < count && text[i] != '.') {
            if (!is_letter(text[i]) && !text_is_digit(text[i]) && text[i] != '-')
                return false;
            continue;
        }
        if (i == label || i - label > LABEL_MAX || text[label] == '-' || text[i - 1] == '-')
            return false;
        if (i < count)
            label = i + 1;
    }
    return is_letter(text[label]);
}

/* Whether an origin's port is one. Origins leave out the port that the scheme has. */
static bool is_port(struct host_name port, unsigned own)
{
    unsigned number = 0;

    if (port.text == NULL)
        return true;
    if (port.count == 0 || port.count > PORT_DIGITS_MAX || port.text[0] == '0')
        return false;
    for (uint32_t i = 0; i < port.count; i++) {
        if (!text_is_digit(port.text[i]))
            return false;
        number = number * 10 + (unsigned)(port.text[i] - '0');
    }
    return number <= PORT_MAX && number != own;
}

/* Whether the host is the id or ends with a dot and the id. */
static bool is_within(struct host_name host, const char *id)
{
    size_t count = strlen(id);

    return host.count >= count && memcmp(host.text + host.count - count, id, count) == 0 &&
           (host.count == count || host.text[host.count - count - 1] == '.');
}

/* The reason why pages of this origin may not use passkeys of `id`, or NULL. */
static const char *origin_fault(const char *text, size_t count, const char *id)
{
    struct origin_parts parts;

    if (!origin_split(text, count, &parts))
        return "does not begin with https://";
    if (!is_domain(parts.host.text, parts.host.count) ||
        !is_port(parts.port, parts.is_https ? 443 : 80))
        return "is not scheme, host and a port that differs from the scheme's own";
    if (!parts.is_https && (parts.host.count != sizeof LOCAL_ID - 1 ||
                            memcmp(parts.host.text, LOCAL_ID, sizeof LOCAL_ID - 1) != 0))
        return "is http, which only localhost may be";
    return is_within(parts.host, id) ? NULL : "is not within exchange.passkey_rp_id";
}

static bool add_origin(struct relying_party *party, const char *text, size_t count,
                       char error[RELYING_PARTY_ERROR_BYTES])
{
    const char *fault = origin_fault(text, count, party->id);
    if (party->origin_count == RELYING_PARTY_ORIGINS_MAX)
        fault = "is one too many";
    if (fault != NULL) {
        (void)snprintf(error, RELYING_PARTY_ERROR_BYTES, "exchange.passkey_origins: '%.*s' %s",
                       (int)(count < 60 ? count : 60), text, fault);
        return false;
    }
    memcpy(party->origins[party->origin_count++], text, count);
    return true;
}

bool relying_party_read(struct relying_party *party, const char *id, const char *origins,
                        bool is_testnet, char error[RELYING_PARTY_ERROR_BYTES])
{
    const char *fault = NULL;
    memset(party, 0, sizeof *party);
    if (is_testnet && *id == '\0')
        id = LOCAL_ID;
    if (is_testnet && *origins == '\0' && strcmp(id, LOCAL_ID) == 0)
        origins = LOCAL_ORIGIN;
    if (*id == '\0' && *origins == '\0')
        return true;
    if (*id == '\0')
        fault = "exchange.passkey_origins needs exchange.passkey_rp_id";
    else if (!is_domain(id, strlen(id)))
        fault = "exchange.passkey_rp_id: not a domain name in lower case";
    else if (!is_testnet && strcmp(id, LOCAL_ID) == 0)
        fault = "exchange.passkey_rp_id: localhost needs exchange.testnet = on";
    else if (*origins == '\0')
        fault = "exchange.passkey_rp_id needs exchange.passkey_origins";
    else if (strchr(id, '.') == NULL && strcmp(id, LOCAL_ID) != 0)
        fault = "exchange.passkey_rp_id: one label belongs to no site: name a domain below it";
    if (fault != NULL) {
        (void)snprintf(error, RELYING_PARTY_ERROR_BYTES, "%s", fault);
        return false;
    }
    memcpy(party->id, id, strlen(id));
    struct comma_list list = comma_list_of(origins, strlen(origins));
    const char *origin;
    size_t count;
    while (comma_list_next(&list, &origin, &count))
        if (!add_origin(party, origin, count, error))
            return false;
    return true;
}
