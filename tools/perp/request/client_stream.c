#include "perp/request/client_stream.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <wslay/wslay.h>

#include "base/base64.h"
#include "perp/request/plain_text.h"

enum { KEY_BYTES = 16, CODE_BYTES = 2 };

static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"; /* RFC 6455, 4.2.2 */

bool client_stream_ask(struct client_stream_ask *ask)
{
    uint8_t key[KEY_BYTES];
    if (getrandom(key, sizeof key, 0) != (ssize_t)sizeof key)
        return false;
    (void)base64_encode(ask->key, key, sizeof key);
    snprintf(ask->headers, sizeof ask->headers,
             "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
             "Sec-WebSocket-Key: %s\r\n",
             ask->key);
    ask->request = (struct client_request){
        .method = "GET",
        .target = "/api/v1/stream",
        .headers = ask->headers,
    };
    return true;
}

bool client_stream_agrees(const struct client_stream_ask *ask, const struct client_answer *answer)
{
    char joined[CLIENT_STREAM_KEY_BYTES + sizeof guid];
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned count = 0;
    char accept[BASE64_TEXT_BYTES(EVP_MAX_MD_SIZE) + 1];
    memcpy(joined, ask->key, CLIENT_STREAM_KEY_BYTES);
    memcpy(joined + CLIENT_STREAM_KEY_BYTES, guid, sizeof guid);
    if (EVP_Digest(joined, sizeof joined - 1, digest, &count, EVP_sha1(), NULL) != 1)
        return false;
    (void)base64_encode(accept, digest, count);
    return answer->status == 101 && strcmp(answer->accept, accept) == 0;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* One text is read at a time: what follows it stays in the connection's buffer. */
static ssize_t on_read(wslay_event_context_ptr frames, uint8_t *bytes, size_t count, int flags,
                       void *context)
{
    struct client_stream *stream = context;
    (void)flags;
    size_t taken = stream->text != NULL || count == 0 ? 0 : client_take(stream->client, bytes, 1);
    stream->taken += taken;
    if (taken != 0)
        return (ssize_t)taken;
    wslay_event_set_error(frames, WSLAY_ERR_WOULDBLOCK);
    return -1;
}

static ssize_t on_write(wslay_event_context_ptr frames, const uint8_t *bytes, size_t count,
                        int flags, void *context)
{
    struct client_stream *stream = context;
    (void)flags;
    if (client_put(stream->client, bytes, count) == 0)
        return (ssize_t)count;
    wslay_event_set_error(frames, WSLAY_ERR_CALLBACK_FAILURE);
    return -1;
}

static int on_mask(wslay_event_context_ptr frames, uint8_t *bytes, size_t count, void *context)
{
    (void)frames;
    (void)context;
    return getrandom(bytes, count, 0) == (ssize_t)count ? 0 : -1;
}

static void keep_close(struct client_stream *stream,
                       const struct wslay_event_on_msg_recv_arg *message)
{
    stream->close_code = message->status_code;
    if (message->msg_length <= CODE_BYTES)
        return;
    snprintf(stream->close_reason, sizeof stream->close_reason, "%.*s",
             (int)(message->msg_length - CODE_BYTES), (const char *)message->msg + CODE_BYTES);
    plain_text_make(stream->close_reason, strlen(stream->close_reason));
}

static void on_message(wslay_event_context_ptr frames,
                       const struct wslay_event_on_msg_recv_arg *message, void *context)
{
    struct client_stream *stream = context;
    (void)frames;
    if (message->opcode == WSLAY_CONNECTION_CLOSE)
        keep_close(stream, message);
    if (message->opcode == WSLAY_BINARY_FRAME)
        stream->is_broken = true;
    if (message->opcode != WSLAY_TEXT_FRAME)
        return;
    INVARIANT(stream->text == NULL);
    stream->text = malloc(message->msg_length + 1);
    stream->is_broken |= stream->text == NULL;
    if (stream->text == NULL)
        return;
    memcpy(stream->text, message->msg, message->msg_length);
    stream->text[message->msg_length] = '\0';
    plain_text_make(stream->text, message->msg_length);
    stream->count = message->msg_length;
}

/* ---- the stream ------------------------------------------------------------------------------ */

int client_stream_open(struct client_stream *stream, struct client *client)
{
    static const struct wslay_event_callbacks callbacks = {
        .recv_callback = on_read,
        .send_callback = on_write,
        .genmask_callback = on_mask,
        .on_msg_recv_callback = on_message,
    };
    *stream = (struct client_stream){ .client = client };
    if (wslay_event_context_client_init(&stream->frames, &callbacks, stream) != 0) {
        stream->frames = NULL;
        return -ENOMEM;
    }
    wslay_event_config_set_max_recv_msg_length(stream->frames, CLIENT_STREAM_TEXT_MAX);
    return 0;
}

int client_stream_send(struct client_stream *stream, const char *text, size_t count)
{
    const struct wslay_event_msg message = {
        .opcode = WSLAY_TEXT_FRAME,
        .msg = (const uint8_t *)text,
        .msg_length = count,
    };
    return wslay_event_queue_msg(stream->frames, &message) == 0 ? 0 : -ENOMEM;
}

/* Reads frames that have come, and writes those that are queued. 1: a text is there; 0: none yet;
 * -ESHUTDOWN, -EPROTO or -ENOMEM. */
static int turn(struct client_stream *stream)
{
    uint64_t taken;
    bool is_read;
    do { /* it ends within a frame's head, whatever lies after it */
        taken = stream->taken;
        is_read = wslay_event_recv(stream->frames) == 0;
    } while (is_read && stream->text == NULL && stream->taken != taken);
    bool is_written = wslay_event_send(stream->frames) == 0;
    if (stream->text != NULL)
        return 1;
    if (wslay_event_get_close_received(stream->frames))
        return -ESHUTDOWN;
    if (!is_read || stream->is_broken || !wslay_event_want_read(stream->frames))
        return -EPROTO;
    return is_written ? 0 : -ENOMEM;
}

int client_stream_next(struct client_stream *stream, const sigset_t *mask, uint32_t wait_ms,
                       char **text, size_t *count)
{
    for (;;) {
        int state = turn(stream);
        if (state < 0)
            return state;
        if (state == 1) {
            *text = stream->text;
            *count = stream->count;
            stream->text = NULL;
            return 0;
        }
        int error = client_await(stream->client, mask, wait_ms);
        if (error != 0)
            return error;
    }
}

void client_stream_close(struct client_stream *stream)
{
    if (stream->frames == NULL)
        return;
    if (wslay_event_queue_close(stream->frames, WSLAY_CODE_NORMAL_CLOSURE, NULL, 0) == 0 &&
        wslay_event_send(stream->frames) == 0 && stream->client->fd >= 0) {
        int error = client_await(stream->client, NULL, 0);
        (void)error; /* whatever came of it, the connection ends here */
    }
    wslay_event_context_free(stream->frames);
    free(stream->text);
    *stream = (struct client_stream){ .client = stream->client };
    client_close(stream->client);
}
