#include "perp/bench/stream_message.h"

#include <stdio.h>
#include <stdlib.h>

/* RFC 6455, 5.2. */
enum {
    FINAL_TEXT = 0x81,
    CLOSE = 0x88,
    MASKED = 0x80,
    MASK_BYTES = 4,
    SHORT_MOST = 125,
    WIDE = 126,
    WIDER = 127,
};

static const char OP[] = "{\"op\":\"signed\",\"id\":";
enum { OP_BYTES = sizeof OP - 1, WIDE_HEAD = 4 };

size_t stream_message_write(uint8_t *bytes, size_t capacity, const char *envelope, size_t count,
                            uint64_t id, bool wants_full)
{
    /* Always the form of 16 bits: the id is then at one location. */
    uint8_t *text = bytes + WIDE_HEAD + MASK_BYTES;
    size_t room = capacity - WIDE_HEAD - MASK_BYTES;
    int length = snprintf((char *)text, room, "%s%lu,%s%.*s", OP, id,
                          wants_full ? "\"ack\":\"full\"," : "", (int)(count - 1), envelope + 1);

    INVARIANT(length > SHORT_MOST && (size_t)length < room && length <= UINT16_MAX);
    bytes[0] = FINAL_TEXT;
    bytes[1] = MASKED | WIDE;
    bytes[2] = (uint8_t)(length >> 8);
    bytes[3] = (uint8_t)length;
    memset(bytes + WIDE_HEAD, 0, MASK_BYTES);
    return WIDE_HEAD + MASK_BYTES + (size_t)length;
}

uint64_t stream_message_id(const uint8_t *bytes)
{
    return strtoull((const char *)bytes + WIDE_HEAD + MASK_BYTES + OP_BYTES, NULL, 10);
}

/* The bytes of the head of a frame without a mask, and *length of what follows; 0: not whole. */
static size_t head_bytes(const uint8_t *frame, size_t count, uint64_t *length)
{
    size_t more = count < 2 ? 0 : frame[1] == WIDE ? 2 : frame[1] == WIDER ? 8 : 0;

    if (count < 2 + more)
        return 0;
    *length = frame[1];
    if (more != 0)
        *length = 0;
    for (size_t i = 0; i < more; i++)
        *length = *length << 8 | frame[2 + i];
    return 2 + more;
}

size_t stream_message_bytes(const char *frame, size_t count)
{
    uint64_t length = 0;
    size_t head = head_bytes((const uint8_t *)frame, count, &length);

    return head == 0 || length > count - head ? 0 : head + (size_t)length;
}

/* The text after a member's name; NULL: there is none. */
static const char *after(const char *text, size_t count, const char *name)
{
    const char *at = memmem(text, count, name, strlen(name));

    return at == NULL ? NULL : at + strlen(name);
}

enum stream_message stream_message_accept(struct answer *answer, const char *frame, size_t bytes,
                                          struct outcomes *outcomes, uint64_t *id)
{
    uint64_t length = 0;
    size_t head = head_bytes((const uint8_t *)frame, bytes, &length);
    const char *text = frame + head;

    if ((uint8_t)frame[0] == CLOSE)
        return STREAM_MESSAGE_END;
    if ((uint8_t)frame[0] != FINAL_TEXT || length < OP_BYTES || memcmp(text, OP, OP_BYTES) != 0)
        return STREAM_MESSAGE_OTHER;
    *id = strtoull(text + OP_BYTES, NULL, 10);
    const char *problem = after(text, length, "\"problem\":{");
    size_t rest = problem == NULL ? 0 : (size_t)(text + length - problem);
    const char *http = problem == NULL ? NULL : after(problem, rest, "\"status\":");
    answer_read_body(answer, http == NULL ? 200 : (uint16_t)strtoul(http, NULL, 10),
                     problem == NULL ? text : problem, problem == NULL ? length : rest, outcomes);
    return STREAM_MESSAGE_ANSWER;
}
