#include "net/http/http.h"

#include "net/http/http_map.h"
#include "net/http/parameter.h"

enum { BLOCK = HTTP_MAP_BLOCK };

int http_scan(const char *text, size_t from, size_t count, uint8_t *fault, uint32_t *fault_at)
{
    return http_map_scan(text, from, count, fault, fault_at);
}

/* The first set bit at or after `from`; `none` if there is none. */
static inline uint32_t next_bit(const uint64_t *map, uint32_t words, uint32_t from, uint32_t none)
{
    uint32_t word = from / BLOCK;
    uint64_t bits = map[word] & (UINT64_MAX << (from % BLOCK));
    while (bits == 0) {
        if (++word >= words)
            return none;
        bits = map[word];
    }
    return word * BLOCK + (uint32_t)__builtin_ctzll(bits);
}

static int fail(struct http_head *head, enum http_fault fault, size_t at)
{
    head->fault = (uint8_t)fault;
    head->fault_at = (uint32_t)at;
    return -1;
}

/* Whether the text equals the word, ignoring case. The text has no control characters; the word has
 * at least four lower-case letters, digits, '-' or '/'. Setting bit 5 folds letters, and maps no
 * other byte but a control character to one of those characters. */
#define IS(text, literal) is_word((text), (literal), sizeof(literal) - 1)

static inline __attribute__((always_inline)) bool is_word(const char *text, const char *word,
                                                          size_t count)
{
    const uint64_t fold = UINT64_C(0x2020202020202020);
    if (count >= 8) {
        uint64_t head = (cc_load64(text) | fold) ^ cc_load64(word);
        uint64_t tail = (cc_load64(text + count - 8) | fold) ^ cc_load64(word + count - 8);
        if (count > 16)
            head |= (cc_load64(text + 8) | fold) ^ cc_load64(word + 8);
        return (head | tail) == 0;
    }
    uint32_t head = (cc_load32(text) | (uint32_t)fold) ^ cc_load32(word);
    uint32_t tail = (cc_load32(text + count - 4) | (uint32_t)fold) ^ cc_load32(word + count - 4);
    return (head | tail) == 0;
}

static enum http_media read_media(const char *value, size_t count)
{
    const char *semicolon = memchr(value, ';', count);
    if (semicolon != NULL)
        count = (size_t)(semicolon - value);
    while (count > 0 && (value[count - 1] == ' ' || value[count - 1] == '\t'))
        count--;
    if (count == 16 && IS(value, "application/json"))
        return HTTP_MEDIA_JSON;
    if (count == 24 && IS(value, "application/octet-stream"))
        return HTTP_MEDIA_OCTETS;
    return HTTP_MEDIA_OTHER;
}

/* Calls the function for each element of a comma-separated list, with its first and one-past-last
 * character. */
static const char *list_next(const char *at, const char *end, const char **first, size_t *count)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == ','))
        at++;
    *first = at;
    while (at < end && *at != ',')
        at++;
    const char *last = at;
    while (last > *first && (last[-1] == ' ' || last[-1] == '\t'))
        last--;
    *count = (size_t)(last - *first);
    return at;
}

static void read_connection(struct http_head *head, const char *value, size_t count)
{
    const char *end = value + count;
    const char *first;
    size_t length;
    while (value < end) {
        value = list_next(value, end, &first, &length);
        if (length == 5 && IS(first, "close"))
            head->keep_alive = false;
        else if (length == 10 && IS(first, "keep-alive") && head->minor == 0)
            head->keep_alive = true;
        else if (length == 7 && IS(first, "upgrade"))
            head->asks_upgrade = true;
    }
}

static enum http_ack read_ack(const char *value, size_t count)
{
    if (count == 4 && IS(value, "full"))
        return HTTP_ACK_FULL;
    if (count == 6 && IS(value, "binary"))
        return HTTP_ACK_BINARY;
    if (count == 7 && IS(value, "receipt"))
        return HTTP_ACK_RECEIPT;
    return HTTP_ACK_OTHER;
}

/* Bits collected over all Accept lines. */
enum { ACCEPT_OCTETS = 1, ACCEPT_JSON = 2 };

static unsigned read_accept(const char *value, size_t count)
{
    const char *end = value + count;
    const char *first;
    size_t length;
    unsigned bits = 0;
    while (value < end) {
        value = list_next(value, end, &first, &length);
        const char *semicolon = memchr(first, ';', length);
        if (semicolon != NULL)
            length = (size_t)(semicolon - first);
        while (length > 0 && (first[length - 1] == ' ' || first[length - 1] == '\t'))
            length--;
        if (length == 24 && IS(first, "application/octet-stream"))
            bits |= ACCEPT_OCTETS;
        else if ((length == 3 && memcmp(first, "*/*", 3) == 0) ||
                 (length == 13 && IS(first, "application/*")) ||
                 (length == 16 && IS(first, "application/json")))
            bits |= ACCEPT_JSON;
    }
    return bits;
}

static bool read_length(struct http_head *head, const char *value, size_t count)
{
    uint64_t length = 0;
    if (count == 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        unsigned digit = (unsigned char)value[i] - (unsigned)'0';
        if (digit > 9)
            return false;
        /* Saturates: any such body is too large all the same. */
        length = length > UINT64_MAX / 16 ? UINT64_MAX / 2 : length * 10 + digit;
    }
    head->content_length = length;
    head->has_length = true;
    return true;
}

/* Headers that were seen and are judged at the end. */
struct seen {
    bool host;
    bool coding;
    bool authorization;
    bool origin;
    bool cookie;
    bool site;
    unsigned accept;
};

/* A header that may come once: gives whether it came before. */
static bool is_again(bool *seen)
{
    bool again = *seen;
    *seen = true;
    return again;
}

/* The headers that say where a request ends and for whom it is. */
static int parse_framing(struct http_head *head, struct seen *seen, const char *text,
                         struct http_span name, struct http_span value)
{
    const char *key = text + name.at;
    const char *content = text + value.at;
    if (name.count == 4 && IS(key, "host")) {
        if (is_again(&seen->host))
            return fail(head, HTTP_FAULT_TWICE, name.at);
        head->host = value;
    } else if (name.count == 6 && IS(key, "expect")) {
        if (value.count != 12 || !IS(content, "100-continue"))
            return fail(head, HTTP_FAULT_EXPECT, value.at);
        head->expects_continue = head->minor == 1;
    } else if (name.count == 10 && IS(key, "connection")) {
        read_connection(head, content, value.count);
    } else if (name.count == 14 && IS(key, "content-length")) {
        if (head->has_length)
            return fail(head, HTTP_FAULT_TWICE, name.at);
        if (!read_length(head, content, value.count))
            return fail(head, HTTP_FAULT_LENGTH, value.at);
    } else if (name.count == 17 && IS(key, "transfer-encoding")) {
        if (is_again(&seen->coding))
            return fail(head, HTTP_FAULT_TWICE, name.at);
        if (head->minor == 0 || value.count != 7 || !IS(content, "chunked"))
            return fail(head, HTTP_FAULT_CODING, value.at);
        head->chunked = true;
    }
    return 0;
}

/* The headers that say who sends a request, and from which page. */
static int parse_sender(struct http_head *head, struct seen *seen, const char *text,
                        struct http_span name, struct http_span value)
{
    const char *key = text + name.at;
    const char *content = text + value.at;
    bool again = false;
    if (name.count == 6 && IS(key, "origin")) {
        again = is_again(&seen->origin);
        head->origin = value;
        head->is_foreign |= value.count == 0; /* that of no page */
    } else if (name.count == 6 && IS(key, "cookie")) {
        again = is_again(&seen->cookie);
        head->cookie = value;
    } else if (name.count == 9 && IS(key, "x-api-key")) {
        again = is_again(&head->has_api_key);
        head->api_key = value;
    } else if (name.count == 12 && IS(key, "x-device-key")) {
        again = is_again(&head->has_device_key);
        head->device_key = value;
    } else if (name.count == 13 && IS(key, "authorization")) {
        again = is_again(&seen->authorization);
        head->authorization = value;
    } else if (name.count == 14 && IS(key, "sec-fetch-site")) {
        again = is_again(&seen->site);
        head->is_foreign |= !(value.count == 11 && IS(content, "same-origin")) &&
                            !(value.count == 4 && IS(content, "none"));
    }
    return again ? fail(head, HTTP_FAULT_TWICE, name.at) : 0;
}

/* Whether a list of subprotocols has the one of binary messages. */
static bool names_binary(const char *value, size_t count)
{
    const char *end = value + count;
    const char *first;
    size_t length;
    while (value < end) {
        value = list_next(value, end, &first, &length);
        if (length == strlen(HTTP_BINARY_STREAM) && memcmp(first, HTTP_BINARY_STREAM, length) == 0)
            return true;
    }
    return false;
}

/* The headers of a WebSocket handshake (RFC 6455, 4.2.1). */
static int parse_handshake(struct http_head *head, const char *text, struct http_span name,
                           struct http_span value)
{
    const char *key = text + name.at;
    struct http_span *kept = NULL;
    if (name.count == 22 && IS(key, "sec-websocket-protocol")) {
        head->asks_binary |= names_binary(text + value.at, value.count); /* it may come again */
        return 0;
    }
    if (name.count == 7 && IS(key, "upgrade"))
        kept = &head->upgrade;
    else if (name.count == 17 && IS(key, "sec-websocket-key"))
        kept = &head->ws_key;
    else if (name.count == 21 && IS(key, "sec-websocket-version"))
        kept = &head->ws_version;
    if (kept == NULL)
        return 0;
    if (kept->count != 0)
        return fail(head, HTTP_FAULT_TWICE, name.at);
    *kept = value;
    return 0;
}

/* The headers that only files of the console heed. One that comes twice counts as absent: the
 * answer is then longer, and right. */
static void parse_file_choice(struct http_head *head, const char *text, struct http_span name,
                              struct http_span value)
{
    const char *key = text + name.at;
    struct http_span *kept = NULL;
    if (name.count == 15 && IS(key, "accept-encoding"))
        kept = &head->codings;
    else if (name.count == 13 && IS(key, "if-none-match"))
        kept = &head->known;
    if (kept == NULL)
        return;
    if (kept->at != 0)
        value.count = 0;
    *kept = value;
}

/* The headers that are read; all others are ignored. */
static int parse_header(struct http_head *head, struct seen *seen, const char *text,
                        struct http_span name, struct http_span value)
{
    const char *key = text + name.at;
    const char *content = text + value.at;
    if (parse_framing(head, seen, text, name, value) != 0 ||
        parse_sender(head, seen, text, name, value) != 0 ||
        parse_handshake(head, text, name, value) != 0)
        return -1;
    parse_file_choice(head, text, name, value);
    if (name.count == 5 && IS(key, "x-ack")) {
        if (head->ack != HTTP_ACK_NONE)
            return fail(head, HTTP_FAULT_TWICE, name.at);
        head->ack = (uint8_t)read_ack(content, value.count);
    } else if (name.count == 6 && IS(key, "accept")) {
        seen->accept |= read_accept(content, value.count);
    } else if (name.count == 8 && IS(key, "x-timing")) {
        head->asks_timing = value.count == 1 && content[0] == '1';
    } else if (name.count == 14 && IS(key, "x-min-sequence")) {
        if (is_again(&head->has_min_sequence))
            return fail(head, HTTP_FAULT_TWICE, name.at);
        head->is_min_sequence_bad =
            !parameter_read_number(content, value.count, &head->min_sequence);
    } else if (name.count == 12 && IS(key, "content-type")) {
        if (head->media != HTTP_MEDIA_NONE)
            return fail(head, HTTP_FAULT_TWICE, name.at);
        head->media = (uint8_t)read_media(content, value.count);
    }
    return 0;
}

static enum http_method method_of(const char *text, uint32_t count)
{
    static const char *const names[HTTP_OTHER] = {
        "GET", "POST", "PUT", "PATCH", "HEAD", "OPTIONS"
    };
    unsigned method = HTTP_GET;

    while (method < HTTP_OTHER &&
           (strlen(names[method]) != count || memcmp(text, names[method], count) != 0))
        method++;
    return (enum http_method)method;
}

/* From the space after the method to the space before the version: path and query. */
static int parse_target(struct http_head *head, const char *text, uint32_t at, uint32_t end)
{
    uint32_t path = at;
    bool bad = false;
    for (uint32_t i = at; i < end; i++) /* no exit: the compiler makes vectors of it */
        bad |= (unsigned char)text[i] <= ' ' || (unsigned char)text[i] >= 127;
    if (CC_UNLIKELY(bad)) {
        while ((unsigned char)text[at] > ' ' && (unsigned char)text[at] < 127)
            at++;
        return fail(head, HTTP_FAULT_TARGET, at);
    }
    if (text[at] != '/') { /* absolute form */
        if (end - at < 8 || !IS(text + at, "http") || memcmp(text + at + 4, "://", 3) != 0)
            return fail(head, HTTP_FAULT_TARGET, at);
        path = at + 7;
        while (path < end && text[path] != '/' && text[path] != '?' && text[path] != '#')
            path++;
        if (path == end || text[path] != '/' || path == at + 7)
            return fail(head, HTTP_FAULT_TARGET, at);
        head->authority = (struct http_span){ (uint16_t)(at + 7), (uint16_t)(path - at - 7) };
    }
    const char *mark = memchr(text + path, '?', end - path);
    uint32_t path_end = mark != NULL ? (uint32_t)(mark - text) : end;
    head->path = (struct http_span){ (uint16_t)path, (uint16_t)(path_end - path) };
    if (mark != NULL)
        head->query =
            (struct http_span){ (uint16_t)(path_end + 1), (uint16_t)(end - path_end - 1) };
    return 0;
}

/* The request line. Returns the offset after it, or -1. */
static int parse_request_line(struct http_head *head, const struct http_map *map, const char *text)
{
    uint32_t none = map->words * BLOCK;
    uint32_t space = next_bit(map->stop, map->words, 0, none);
    if (space == 0 || space == none || text[space] != ' ')
        return fail(head, HTTP_FAULT_METHOD, space == none ? 0 : space);
    head->method = (uint8_t)method_of(text, space);
    uint32_t line_end = next_bit(map->cr, map->words, space, none);
    if (line_end == none)
        return fail(head, HTTP_FAULT_TARGET, space + 1);
    /* " HTTP/1.x" are the last nine bytes; the target has at least one. */
    if (line_end < space + 11 || memcmp(text + line_end - 9, " HTTP/1.", 8) != 0 ||
        (text[line_end - 1] != '0' && text[line_end - 1] != '1'))
        return fail(head, HTTP_FAULT_VERSION, line_end < space + 11 ? space + 1 : line_end - 8);
    head->minor = (uint8_t)(text[line_end - 1] - '0');
    head->keep_alive = head->minor == 1;
    if (parse_target(head, text, space + 1, line_end - 9) != 0)
        return -1;
    return (int)line_end + 2;
}

static int parse_headers(struct http_head *head, const struct http_map *map, const char *text,
                         uint32_t at, uint32_t end)
{
    struct seen seen = { 0 };
    unsigned lines = 0;
    while (at < end) {
        uint32_t colon = next_bit(map->stop, map->words, at, 0);
        if (colon == at)
            return fail(
                head, text[at] == ' ' || text[at] == '\t' ? HTTP_FAULT_FOLD : HTTP_FAULT_NAME, at);
        if (text[colon] != ':')
            return fail(head, HTTP_FAULT_NAME, colon);
        uint32_t line_end = next_bit(map->cr, map->words, colon, 0);
        uint32_t value = colon + 1;
        uint32_t value_end = line_end;
        while (value < value_end && (text[value] == ' ' || text[value] == '\t'))
            value++;
        while (value_end > value && (text[value_end - 1] == ' ' || text[value_end - 1] == '\t'))
            value_end--;
        if (++lines > HTTP_HEADERS_MAX)
            return fail(head, HTTP_FAULT_TOO_MANY, at);
        struct http_span name_span = { (uint16_t)at, (uint16_t)(colon - at) };
        struct http_span value_span = { (uint16_t)value, (uint16_t)(value_end - value) };
        if (parse_header(head, &seen, text, name_span, value_span) != 0)
            return -1;
        at = line_end + 2;
    }
    if (!seen.host)
        return fail(head, HTTP_FAULT_HOST, end);
    if (seen.coding && head->has_length)
        return fail(head, HTTP_FAULT_BOTH, end);
    head->accepts_octets = seen.accept == ACCEPT_OCTETS;
    return 0;
}

int http_parse(struct http_head *head, const char *text, size_t count)
{
    struct http_map map;
    memset(head, 0, sizeof *head);
    int bytes = http_map_head(&map, text, count, &head->fault, &head->fault_at);
    if (bytes <= 0) {
        if (head->fault == HTTP_FAULT_TOO_LARGE) { /* 404 and 405 come before 431 */
            if (parse_request_line(head, &map, text) < 0)
                head->path.count = 0;
            head->fault = HTTP_FAULT_TOO_LARGE;
            head->fault_at = HTTP_HEAD_MAX;
        }
        return bytes;
    }
    head->bytes = (uint32_t)bytes;
    int headers = parse_request_line(head, &map, text);
    if (headers < 0)
        return -1;
    if (parse_headers(head, &map, text, (uint32_t)headers, (uint32_t)bytes - 2) != 0)
        return -1;
    return bytes;
}

const char *http_fault_text(enum http_fault fault)
{
    static const char *const texts[] = {
        [HTTP_FAULT_NONE] = "",
        [HTTP_FAULT_LINE_END] = "a line does not end with CR LF",
        [HTTP_FAULT_CONTROL] = "a control character",
        [HTTP_FAULT_METHOD] = "the method is not a token followed by one space",
        [HTTP_FAULT_TARGET] = "the request target is not a path",
        [HTTP_FAULT_VERSION] = "the version is not HTTP/1.0 or HTTP/1.1",
        [HTTP_FAULT_FOLD] = "a header line begins with white space",
        [HTTP_FAULT_NAME] = "a header line has no colon right behind its name",
        [HTTP_FAULT_HOST] = "there is no Host header",
        [HTTP_FAULT_TWICE] = "a header that may come once came twice",
        [HTTP_FAULT_LENGTH] = "Content-Length is not one decimal number",
        [HTTP_FAULT_CODING] = "Transfer-Encoding is not chunked in HTTP/1.1",
        [HTTP_FAULT_BOTH] = "Content-Length together with Transfer-Encoding",
        [HTTP_FAULT_EXPECT] = "an expectation other than 100-continue",
        [HTTP_FAULT_CHUNK] = "a chunked body must be plain chunks without extension and trailer",
        [HTTP_FAULT_TOO_LARGE] = "the request line and headers exceed 16384 bytes",
        [HTTP_FAULT_TOO_MANY] = "more than 64 headers",
    };
    return (size_t)fault < CC_COUNT(texts) ? texts[fault] : "";
}

enum {
    CHUNK_SIZE,
    CHUNK_SIZE_LF,
    CHUNK_DATA,
    CHUNK_DATA_CR,
    CHUNK_DATA_LF,
    CHUNK_LAST_CR,
    CHUNK_LAST_LF,
    CHUNK_END
};

enum { CHUNK_DIGITS_MAX = 8 };

/* One byte outside chunk data. False: it is not allowed there. */
static bool chunk_step(struct http_chunked *chunked, unsigned char c)
{
    switch (chunked->state) {
    case CHUNK_SIZE: {
        unsigned digit = c - (unsigned)'0';
        if (digit > 9)
            digit = (c | 0x20u) - (unsigned)'a' + 10;
        if (digit <= 15 && (c >= 'A' || digit <= 9)) {
            chunked->remaining = chunked->remaining * 16 + digit;
            return ++chunked->digits <= CHUNK_DIGITS_MAX;
        }
        chunked->state = CHUNK_SIZE_LF;
        return c == '\r' && chunked->digits > 0;
    }
    case CHUNK_SIZE_LF:
        chunked->state = chunked->remaining > 0 ? CHUNK_DATA : CHUNK_LAST_CR;
        return c == '\n';
    case CHUNK_DATA_CR:
        chunked->state = CHUNK_DATA_LF;
        return c == '\r';
    case CHUNK_DATA_LF:
        chunked->state = CHUNK_SIZE;
        chunked->digits = 0;
        return c == '\n';
    case CHUNK_LAST_CR:
        chunked->state = CHUNK_LAST_LF;
        return c == '\r';
    case CHUNK_LAST_LF:
        chunked->state = CHUNK_END;
        return c == '\n';
    default:
        return false;
    }
}

enum http_chunk_result http_chunked_read(struct http_chunked *chunked, const char *in, size_t count,
                                         size_t *used, char *out, size_t room, size_t *written)
{
    *used = 0;
    *written = 0;
    while (*used < count) {
        if (chunked->state == CHUNK_DATA) {
            size_t part = count - *used;
            if (part > chunked->remaining)
                part = (size_t)chunked->remaining;
            memmove(out + *written, in + *used, part);
            *written += part;
            *used += part;
            chunked->remaining -= part;
            if (chunked->remaining == 0)
                chunked->state = CHUNK_DATA_CR;
            continue;
        }
        if (!chunk_step(chunked, (unsigned char)in[*used]))
            return HTTP_CHUNK_BAD;
        ++*used;
        if (chunked->state == CHUNK_END)
            return HTTP_CHUNK_DONE;
        if (chunked->state == CHUNK_DATA && chunked->remaining > room - *written)
            return HTTP_CHUNK_LARGE;
    }
    return HTTP_CHUNK_MORE;
}
