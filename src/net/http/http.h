/* http.h - strict HTTP/1.1 and 1.0 request heads and chunked bodies (wire.md W10). Pure.
 *
 * A head is read in two passes. The first takes 64 bytes a step and makes two bit maps: bytes that
 * are no token character, and CRs. It checks that every CR is followed by LF, that every LF follows
 * a CR, and that there is no other control character; it ends at the empty line. The second pass
 * jumps from bit to bit: method, target, names, values.
 *
 * Refused, each with its location: bare CR or LF; control characters; a line that begins with white
 * space (obs-fold); white space before the colon; a method that is no token; a target in neither
 * origin nor absolute form; a missing or second Host; a Content-Length that is not one decimal
 * number, or that comes with Transfer-Encoding; any coding but `chunked`; an unknown expectation; a
 * second Content-Type, X-API-KEY, X-DEVICE-KEY, Cookie, Authorization, Origin, Sec-Fetch-Site,
 * X-Ack or X-Min-Sequence.
 *
 * Owner. Spans are offsets from the first byte of the head.
 * Bound. HTTP_HEAD_MAX bytes, HTTP_HEADERS_MAX header lines. */
#ifndef NET_HTTP_HTTP_H
#define NET_HTTP_HTTP_H

#include "base/compiler.h"

enum {
    HTTP_HEAD_MAX = 16384,
    HTTP_HEADERS_MAX = 64,
};

/* The subprotocol of streams of binary messages (wire.md W9). */
#define HTTP_BINARY_STREAM "perps.bin.v1"

enum http_method { HTTP_GET, HTTP_POST, HTTP_PUT, HTTP_PATCH, HTTP_HEAD, HTTP_OPTIONS, HTTP_OTHER };

enum http_media { HTTP_MEDIA_NONE, HTTP_MEDIA_JSON, HTTP_MEDIA_OCTETS, HTTP_MEDIA_OTHER };

enum http_ack { HTTP_ACK_NONE, HTTP_ACK_FULL, HTTP_ACK_BINARY, HTTP_ACK_RECEIPT, HTTP_ACK_OTHER };

/* What is wrong with a head; the text of each is in http.c. */
enum http_fault {
    HTTP_FAULT_NONE,
    HTTP_FAULT_LINE_END,  /* bare CR or LF */
    HTTP_FAULT_CONTROL,   /* another control character */
    HTTP_FAULT_METHOD,    /* no token before the first space */
    HTTP_FAULT_TARGET,    /* neither "/..." nor "http://host/...", or a forbidden byte */
    HTTP_FAULT_VERSION,   /* not HTTP/1.0 or HTTP/1.1 */
    HTTP_FAULT_FOLD,      /* a header line that begins with white space */
    HTTP_FAULT_NAME,      /* no colon after a token */
    HTTP_FAULT_HOST,      /* no Host */
    HTTP_FAULT_TWICE,     /* a second header of a kind that may come once */
    HTTP_FAULT_LENGTH,    /* Content-Length is not one decimal number */
    HTTP_FAULT_CODING,    /* Transfer-Encoding is not chunked, or HTTP/1.0 */
    HTTP_FAULT_BOTH,      /* Content-Length and Transfer-Encoding */
    HTTP_FAULT_EXPECT,    /* an expectation other than 100-continue */
    HTTP_FAULT_CHUNK,     /* chunk size, its end, an extension or a trailer */
    HTTP_FAULT_TOO_LARGE, /* beyond HTTP_HEAD_MAX: 431 */
    HTTP_FAULT_TOO_MANY,  /* beyond HTTP_HEADERS_MAX: 431 */
};

struct http_span {
    uint16_t at, count;
};

struct http_head {
    uint32_t bytes; /* of the head, the empty line included */
    uint8_t method; /* enum http_method */
    uint8_t minor;  /* HTTP/1.minor */
    uint8_t media;  /* enum http_media, of Content-Type */
    bool keep_alive;
    bool chunked;
    bool has_length;
    bool expects_continue;
    bool has_api_key;
    bool has_device_key;
    bool is_foreign;     /* Sec-Fetch-Site names a page of another origin, or an Origin is empty */
    bool asks_timing;    /* X-Timing: 1 */
    uint8_t ack;         /* enum http_ack, of X-Ack */
    bool accepts_octets; /* Accept names application/octet-stream and no type that JSON has */
    bool has_min_sequence;
    bool is_min_sequence_bad; /* X-Min-Sequence is not one decimal number of 64 bits */
    uint64_t min_sequence;    /* of X-Min-Sequence; 0: none */
    uint64_t content_length;
    struct http_span path;      /* without the query, percent signs as sent */
    struct http_span query;     /* after the '?'; count 0: none */
    struct http_span host;      /* of the Host header */
    struct http_span authority; /* of a target in absolute form; count 0: origin form */
    struct http_span api_key;
    struct http_span device_key;
    struct http_span cookie; /* count 0: none, as the next */
    struct http_span authorization;
    struct http_span origin;     /* the same */
    struct http_span upgrade;    /* count 0: none, as the next */
    struct http_span ws_key;     /* Sec-WebSocket-Key */
    struct http_span ws_version; /* Sec-WebSocket-Version */
    struct http_span codings;    /* Accept-Encoding; of several none, as the next */
    struct http_span known;      /* If-None-Match */
    bool asks_upgrade;           /* Connection names upgrade */
    bool asks_binary;            /* Sec-WebSocket-Protocol names HTTP_BINARY_STREAM */
    uint32_t fault_at;           /* of the fault, in bytes from the start of the head */
    uint8_t fault;               /* enum http_fault */
};

/* Reads one head from the `count` bytes at `text`. Returns its length; 0 if it is not complete yet;
 * -1 with head->fault and head->fault_at set. After HTTP_FAULT_TOO_LARGE and HTTP_FAULT_TOO_MANY
 * method and path are valid if path.count is not 0. */
CC_MUST_USE int http_parse(struct http_head *head, const char *text, size_t count);

/* For a head that arrives in pieces: reads text[from..count) only; the bytes before `from` have
 * been scanned before. Returns the length of the head if its end is there; 0 if not yet; -1 with
 * *fault and *fault_at at a forbidden line end or control character. */
CC_MUST_USE int http_scan(const char *text, size_t from, size_t count, uint8_t *fault,
                          uint32_t *fault_at);

/* The text of the fault for a problem detail. Static storage, never NULL. */
const char *http_fault_text(enum http_fault fault);

/* Reader of a chunked body. Extensions and trailers are refused. Start with all zeros. */
struct http_chunked {
    uint64_t remaining; /* of the open chunk */
    uint8_t state;
    uint8_t digits;
};

enum http_chunk_result { HTTP_CHUNK_MORE, HTTP_CHUNK_DONE, HTTP_CHUNK_BAD, HTTP_CHUNK_LARGE };

/* Reads chunk framing from `in` and writes body bytes to `out`, which may be `in` itself or lie
 * before it. *used gets the bytes read, *written the bytes written. LARGE: the body would exceed
 * `room`; that is known as soon as the size of a chunk is read. */
CC_MUST_USE enum http_chunk_result http_chunked_read(struct http_chunked *chunked, const char *in,
                                                     size_t count, size_t *used, char *out,
                                                     size_t room, size_t *written);

#endif
