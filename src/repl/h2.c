#include "repl/h2.h"

#include <errno.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>

struct call {
    int32_t stream;
    bool is_used, is_open, is_ended;
    int http_status, status; /* -1: not told */
    const uint8_t *out;
    size_t out_count, out_sent;
    uint8_t prefix[H2_PREFIX_BYTES];
    size_t prefix_count, partial_count; /* of the message that is coming */
    struct h2_message *partial;
    struct h2_message *first, **last;
    char text[ETCD_TEXT_BYTES];
};

struct h2 {
    nghttp2_session *session;
    bool is_over, is_secure;
    size_t buffered; /* bytes of messages, whole and partial */
    char authority[ETCD_NAME_BYTES];
    struct call calls[H2_CALLS_MAX];
};

void h2_prefix(uint8_t prefix[H2_PREFIX_BYTES], size_t count)
{
    prefix[0] = 0;
    prefix[1] = (uint8_t)(count >> 24);
    prefix[2] = (uint8_t)(count >> 16);
    prefix[3] = (uint8_t)(count >> 8);
    prefix[4] = (uint8_t)count;
}

/* The call of a stream: none once it has ended or its slot is another's. */
static struct call *call_of(nghttp2_session *session, int32_t stream)
{
    struct call *call = nghttp2_session_get_stream_user_data(session, stream);
    bool is_its = call != NULL && call->is_used && !call->is_ended && call->stream == stream;
    return is_its ? call : NULL;
}

static size_t cost_of(const struct h2_message *message)
{
    return sizeof *message + message->count;
}

static void free_message(struct h2 *h2, struct h2_message *message)
{
    if (message != NULL)
        h2->buffered -= cost_of(message);
    free(message);
}

/* The call ends at once; the other side gets a request to stop. */
static void fail_call(struct h2 *h2, struct call *call, int status, const char *text)
{
    call->is_ended = true;
    call->status = status;
    (void)snprintf(call->text, sizeof call->text, "%s", text);
    (void)nghttp2_submit_rst_stream(h2->session, NGHTTP2_FLAG_NONE, call->stream, NGHTTP2_CANCEL);
}

static bool begin_message(struct h2 *h2, struct call *call)
{
    const uint8_t *prefix = call->prefix;
    size_t count = (size_t)prefix[1] << 24 | (size_t)prefix[2] << 16 | (size_t)prefix[3] << 8 |
                   (size_t)prefix[4];
    if (prefix[0] != 0)
        return false;
    if (count > ETCD_ANSWER_BYTES) {
        fail_call(h2, call, H2_TOO_LARGE, "the answer is too large");
        return true;
    }
    if (h2->buffered + count > H2_BUFFERED_MAX)
        return false;
    call->partial = malloc(sizeof *call->partial + count);
    if (call->partial == NULL)
        return false;
    call->partial->next = NULL;
    call->partial->count = count;
    call->partial_count = 0;
    h2->buffered += cost_of(call->partial);
    return true;
}

static void end_message(struct call *call)
{
    if (call->partial == NULL || call->partial_count < call->partial->count)
        return;
    *call->last = call->partial;
    call->last = &call->partial->next;
    call->partial = NULL;
    call->prefix_count = 0;
}

/* Bytes of a call: prefix, message, prefix, ... False: they are no gRPC. */
static bool receive_bytes(struct h2 *h2, struct call *call, const uint8_t *bytes, size_t count)
{
    while (count > 0 && !call->is_ended) {
        bool is_prefix = call->partial == NULL;
        uint8_t *to = is_prefix ? call->prefix + call->prefix_count
                                : call->partial->bytes + call->partial_count;
        size_t wanted = is_prefix ? H2_PREFIX_BYTES - call->prefix_count
                                  : call->partial->count - call->partial_count;
        size_t taken = count < wanted ? count : wanted;
        memcpy(to, bytes, taken);
        bytes += taken;
        count -= taken;
        if (is_prefix) {
            call->prefix_count += taken;
            if (call->prefix_count == H2_PREFIX_BYTES && !begin_message(h2, call))
                return false;
        } else {
            call->partial_count += taken;
        }
        end_message(call);
    }
    return true;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes,
                   size_t count, void *context)
{
    (void)flags;
    struct h2 *h2 = context;
    struct call *call = call_of(session, stream);
    if (call != NULL && !receive_bytes(h2, call, bytes, count))
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    /* The window of the stream opens again when its message is taken: h2_pop. */
    if (nghttp2_session_consume_connection(session, count) != 0)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    return 0;
}

/* At most three digits; -1: none. */
static int number_of(const uint8_t *bytes, size_t count)
{
    if (count == 0 || count > 3)
        return -1;
    int value = 0;
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] < '0' || bytes[i] > '9')
            return -1;
        value = 10 * value + bytes[i] - '0';
    }
    return value;
}

static bool is_name(const uint8_t *bytes, size_t count, const char *name)
{
    return count == strlen(name) && memcmp(bytes, name, count) == 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_count, const uint8_t *value, size_t value_count, uint8_t flags,
                     void *context)
{
    (void)flags;
    (void)context;
    struct call *call = call_of(session, frame->hd.stream_id);
    if (call == NULL)
        return 0;
    if (is_name(name, name_count, ":status")) {
        call->http_status = number_of(value, value_count);
    } else if (is_name(name, name_count, "grpc-status")) {
        call->status = number_of(value, value_count);
    } else if (is_name(name, name_count, "grpc-message")) {
        size_t count = value_count < sizeof call->text - 1 ? value_count : sizeof call->text - 1;
        for (size_t i = 0; i < count; i++)
            call->text[i] = value[i] >= ' ' && value[i] <= '~' ? (char)value[i] : '?';
        call->text[count] = 0;
    }
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t stream, uint32_t code, void *context)
{
    (void)context;
    struct call *call = call_of(session, stream);
    if (call == NULL)
        return 0;
    call->is_ended = true;
    bool is_broken = code != NGHTTP2_NO_ERROR || call->http_status != 200 ||
                     call->partial != NULL || call->prefix_count != 0;
    if (call->status < 0 || (call->status == H2_OK && is_broken))
        call->status = H2_UNAVAILABLE;
    if (call->status != H2_OK && call->text[0] == 0)
        (void)snprintf(call->text, sizeof call->text, "the call was broken off");
    return 0;
}

static ssize_t on_read(nghttp2_session *session, int32_t stream, uint8_t *bytes, size_t room,
                       uint32_t *flags, nghttp2_data_source *source, void *context)
{
    (void)session;
    (void)context;
    struct call *call = source->ptr;
    if (!call->is_used || call->is_ended || call->stream != stream)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    size_t left = call->out_count - call->out_sent;
    size_t count = left < room ? left : room;
    if (count == 0 && call->is_open)
        return NGHTTP2_ERR_DEFERRED;
    memcpy(bytes, call->out + call->out_sent, count);
    call->out_sent += count;
    if (count == left && !call->is_open)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)count;
}

static int open_session(struct h2 *h2)
{
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;
    int error = -1;
    if (nghttp2_session_callbacks_new(&callbacks) == 0 && nghttp2_option_new(&option) == 0) {
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
        nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
        nghttp2_option_set_no_auto_window_update(option, 1);
        error = nghttp2_session_client_new2(&h2->session, callbacks, h2, option);
    }
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(option);
    if (error != 0)
        return error;
    const nghttp2_settings_entry settings[] = {
        { NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
        { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, H2_WINDOW_BYTES },
        { NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, 16384 },
        { NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 65536 },
    };
    error = nghttp2_submit_settings(h2->session, 0, settings, CC_COUNT(settings));
    return error != 0 ? error
                      : nghttp2_session_set_local_window_size(h2->session, 0, 0, H2_BUFFERED_MAX);
}

struct h2 *h2_create(const char *authority, bool is_secure)
{
    struct h2 *h2 = calloc(1, sizeof *h2);
    if (h2 == NULL)
        return NULL;
    h2->is_secure = is_secure;
    (void)snprintf(h2->authority, sizeof h2->authority, "%s", authority);
    if (open_session(h2) != 0) {
        h2_destroy(h2);
        return NULL;
    }
    return h2;
}

void h2_destroy(struct h2 *h2)
{
    if (h2 == NULL)
        return;
    h2->is_over = true;
    for (uint32_t i = 0; i < H2_CALLS_MAX; i++)
        h2_drop(h2, i);
    nghttp2_session_del(h2->session);
    free(h2);
}

static nghttp2_nv header(const char *name, const char *value)
{
    return (nghttp2_nv){ (uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name),
                         strlen(value), NGHTTP2_NV_FLAG_NONE };
}

int h2_start(struct h2 *h2, uint32_t index, const char *path, const uint8_t *message, size_t count,
             bool is_open)
{
    struct call *call = &h2->calls[index];
    INVARIANT(!call->is_used);
    if (h2->is_over)
        return -EPROTO;
    *call = (struct call){ .is_used = true,
                           .is_open = is_open,
                           .http_status = -1,
                           .status = -1,
                           .out = message,
                           .out_count = count };
    call->last = &call->first;
    const nghttp2_nv headers[] = {
        header(":method", "POST"),
        header(":scheme", h2->is_secure ? "https" : "http"),
        header(":path", path),
        header(":authority", h2->authority),
        header("content-type", "application/grpc"),
        header("te", "trailers"),
        header("hasleader", "true"), /* a member that knows no leader says so at once */
    };
    nghttp2_data_provider provider = { .source.ptr = call, .read_callback = on_read };
    call->stream =
        nghttp2_submit_request(h2->session, NULL, headers, CC_COUNT(headers), &provider, call);
    if (call->stream > 0)
        return 0;
    call->is_used = false;
    return call->stream == NGHTTP2_ERR_NOMEM ? -ENOMEM : -EPROTO;
}

void h2_drop(struct h2 *h2, uint32_t index)
{
    struct call *call = &h2->calls[index];
    if (!call->is_used)
        return;
    if (!call->is_ended && !h2->is_over)
        fail_call(h2, call, H2_UNAVAILABLE, "");
    free_message(h2, call->partial);
    while (call->first != NULL) {
        struct h2_message *message = call->first;
        call->first = message->next;
        free_message(h2, message);
    }
    *call = (struct call){ 0 };
}

struct h2_message *h2_pop(struct h2 *h2, uint32_t index)
{
    struct call *call = &h2->calls[index];
    struct h2_message *message = call->first;
    if (!call->is_used || message == NULL)
        return NULL;
    call->first = message->next;
    if (call->first == NULL)
        call->last = &call->first;
    h2->buffered -= cost_of(message);
    if (!call->is_ended && !h2->is_over)
        (void)nghttp2_session_consume_stream(h2->session, call->stream,
                                             H2_PREFIX_BYTES + message->count);
    return message;
}

bool h2_is_ended(const struct h2 *h2, uint32_t index, int *status, const char **text)
{
    const struct call *call = &h2->calls[index];
    *status = call->status;
    *text = call->text;
    return call->is_used && call->is_ended;
}

int h2_receive(struct h2 *h2, const uint8_t *bytes, size_t count)
{
    if (h2->is_over)
        return -EPROTO;
    ssize_t taken = nghttp2_session_mem_recv(h2->session, bytes, count);
    if (taken < 0 || (size_t)taken != count ||
        (!nghttp2_session_want_read(h2->session) && !nghttp2_session_want_write(h2->session)))
        h2->is_over = true;
    return h2->is_over ? -EPROTO : 0;
}

int64_t h2_output(struct h2 *h2, const uint8_t **bytes)
{
    if (h2->is_over)
        return -EPROTO;
    ssize_t count = nghttp2_session_mem_send(h2->session, bytes);
    if (count < 0)
        h2->is_over = true;
    return count < 0 ? -EPROTO : count;
}

int h2_ping(struct h2 *h2)
{
    return nghttp2_submit_ping(h2->session, NGHTTP2_FLAG_NONE, NULL) == 0 ? 0 : -EPROTO;
}

bool h2_is_leaving(const struct h2 *h2)
{
    return h2->is_over || nghttp2_session_check_request_allowed(h2->session) == 0;
}
