#include "base/relying_party.h"

#include <stdio.h>

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

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Whether the text is a domain name in lower case: labels of letters, digits and inner hyphens,
 * the last of which begins with a letter (no IP address). */
static bool is_domain(const char *text, size_t count)
{
    size_t label = 0; /* first character of the label at hand */
    if (count == 0 || count > RELYING_PARTY_ID_MAX)
        return false;
    for (size_t i = 0; i <= count; i++) {
        if (i < count && text[i] != '.') {
            if (!is_letter(text[i]) && !is_digit(text[i]) && text[i] != '-')
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

/* Whether `text` is empty, or `:` and a port. Origins leave out the port that the scheme has. */
static bool is_port(const char *text, size_t count, unsigned own)
{
    unsigned port = 0;
    if (count == 0)
        return true;
    if (text[0] != ':' || count < 2 || count > 1 + PORT_DIGITS_MAX || text[1] == '0')
        return false;
    for (size_t i = 1; i < count; i++) {
        if (!is_digit(text[i]))
            return false;
        port = port * 10 + (unsigned)(text[i] - '0');
    }
    return port <= PORT_MAX && port != own;
}

static bool skip_scheme(const char **text, size_t *count, const char *scheme)
{
    size_t length = strlen(scheme);
    if (*count < length || memcmp(*text, scheme, length) != 0)
        return false;
    *text += length;
    *count -= length;
    return true;
}

/* The reason why the text is no origin whose pages may use passkeys of `id`; NULL if it is one. */
static const char *origin_fault(const char *text, size_t count, const char *id)
{
    bool is_secure = skip_scheme(&text, &count, "https://");
    if (!is_secure && !skip_scheme(&text, &count, "http://"))
        return "does not begin with https://";
    const char *colon = memchr(text, ':', count);
    size_t host = colon == NULL ? count : (size_t)(colon - text);
    if (!is_domain(text, host) || !is_port(text + host, count - host, is_secure ? 443 : 80))
        return "is not scheme, host and a port that differs from the scheme's own";
    if (!is_secure && (host != strlen(LOCAL_ID) || memcmp(text, LOCAL_ID, host) != 0))
        return "is http, which only localhost may be";
    size_t id_count = strlen(id);
    bool is_inside = host >= id_count && memcmp(text + host - id_count, id, id_count) == 0 &&
                     (host == id_count || text[host - id_count - 1] == '.');
    return is_inside ? NULL : "is not within exchange.passkey_rp_id";
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
    if (fault != NULL) {
        (void)snprintf(error, RELYING_PARTY_ERROR_BYTES, "%s", fault);
        return false;
    }
    memcpy(party->id, id, strlen(id));
    for (const char *at = origins;; at++) {
        size_t count = strcspn(at, ",");
        if (!add_origin(party, at, count, error))
            return false;
        at += count;
        if (*at == '\0')
            return true;
    }
}
