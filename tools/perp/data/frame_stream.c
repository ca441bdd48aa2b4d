#include "perp/data/frame_stream.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base64.h"
#include "perp/invocation/exit_code.h"
#include "perp/request/instant.h"
#include "store/segment.h"

enum { BUFFER_BYTES = 2 * FRAME_BYTES_MAX, TARGET_BYTES = 96, HEADER_BYTES = 64 };

/* One answer of GET /admin/frames. */
struct answer {
    uint64_t segment, offset, block_bytes, boot, first_length;
    uint32_t bytes; /* at the stream's buffer + buffered */
};

bool frame_stream_open(struct frame_stream *stream)
{
    stream->file = -1;
    stream->buffer = malloc(BUFFER_BYTES);
    return stream->buffer != NULL || copy_failed(stream->context, stream->path, "memory", -ENOMEM);
}

void frame_stream_close(struct frame_stream *stream)
{
    if (stream->file >= 0)
        disk_close(stream->disk, stream->file);
    stream->file = -1;
    free(stream->buffer);
    stream->buffer = NULL;
}

static enum frame_stream_got unlike(const struct frame_stream *stream, const char *what)
{
    (void)context_fail(stream->context, EXIT_CODE_rejected, "frame %" PRIu64 " of the exchange %s",
                       stream->tail.number + 1, what);
    return FRAME_STREAM_FAILED;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static bool read_number(const json_t *root, const char *name, uint64_t *value)
{
    const json_t *member = json_object_get(root, name);

    *value = (uint64_t)json_integer_value(member);
    return json_is_integer(member) && json_integer_value(member) >= 0;
}

static bool read_answer(struct frame_stream *stream, const json_t *root, struct answer *answer)
{
    const json_t *text = json_object_get(root, "bytes");
    size_t room = BUFFER_BYTES - stream->buffered;

    if (!json_is_string(text) || !read_number(root, "segment", &answer->segment) ||
        !read_number(root, "offset", &answer->offset) ||
        !read_number(root, "boot", &answer->boot) ||
        !read_number(root, "block_bytes", &answer->block_bytes) ||
        !read_number(root, "first_length", &answer->first_length))
        return false;
    ptrdiff_t count = base64_decode(stream->buffer + stream->buffered, room,
                                    json_string_value(text), json_string_length(text), NULL);
    answer->bytes = count < 0 ? 0 : (uint32_t)count;
    return count >= 0;
}

/* ---- the copy -------------------------------------------------------------------------------- */

/* Opens the file of a segment; one that begins is made whole, with its header. 0 or -errno. */
static int open_segment(struct frame_stream *stream, const struct answer *answer)
{
    struct segment_header header = segment_header_of(stream->exchange, answer->segment,
                                                     answer->boot, (uint32_t)answer->block_bytes);
    uint8_t bytes[SEGMENT_FRAMES_OFFSET];
    char path[DISK_PATH_BYTES];
    int error = 0;

    if (stream->file >= 0 && stream->segment == answer->segment)
        return 0;
    if (stream->file >= 0)
        disk_close(stream->disk, stream->file);
    segment_path(path, answer->segment, true);
    stream->segment = answer->segment;
    stream->file = disk_open(stream->disk, path, DISK_CREATE);
    if (stream->file < 0)
        return stream->file;
    segment_encode(bytes, &header);
    error = disk_allocate(stream->disk, stream->file, stream->segment_bytes);
    if (error == 0)
        error = disk_write(stream->disk, stream->file, 0, bytes, sizeof bytes);
    return error == 0 ? disk_sync_folder(stream->disk, "journal") : error;
}

/* Checks the `count` bytes of the buffer: whole frames, each chained to the one before. */
static bool check_frames(struct frame_stream *stream, const struct answer *answer, uint32_t count)
{
    struct frame_header header;

    for (uint32_t at = 0; at < count; at += header.length) {
        if (frame_decode(&header, stream->buffer + at, count - at,
                         exchange_file_journal(stream->exchange, answer->segment), answer->segment,
                         (uint32_t)answer->block_bytes) != 0 ||
            !frame_chains(&stream->tail, &header))
            return false;
        frame_tail_advance(&stream->tail, &header, stream->buffer + at);
        stream->frames++;
    }
    return true;
}

static enum frame_stream_got keep(struct frame_stream *stream, const struct answer *answer)
{
    uint32_t count = stream->buffered + answer->bytes;
    uint64_t offset = answer->offset - stream->buffered;

    if (count < answer->first_length) { /* a piece of a long frame */
        stream->buffered = count;
        return FRAME_STREAM_FRAMES;
    }
    stream->buffered = 0;
    if (answer->segment > UINT32_MAX || answer->block_bytes < 512 ||
        answer->block_bytes > DISK_BLOCK_BYTES_MAX || offset < SEGMENT_FRAMES_OFFSET ||
        offset > stream->segment_bytes || count > stream->segment_bytes - offset ||
        !check_frames(stream, answer, count))
        return unlike(stream, "does not follow the last one of the copy");
    int error = open_segment(stream, answer);
    if (error == 0)
        error = disk_write(stream->disk, stream->file, offset, stream->buffer, count);
    if (error == 0)
        error = disk_sync(stream->disk, stream->file);
    stream->bytes += count;
    if (error == 0)
        return FRAME_STREAM_FRAMES;
    (void)copy_failed(stream->context, stream->path, "journal", error);
    return FRAME_STREAM_FAILED;
}

/* ---- asking ---------------------------------------------------------------------------------- */

static enum frame_stream_got take(struct frame_stream *stream, const struct client_answer *got)
{
    struct answer answer;
    json_t *root = json_loadb(got->body, got->body_count, 0, NULL);
    bool is_read = read_answer(stream, root, &answer);

    json_decref(root);
    if (!is_read || answer.first_length > FRAME_BYTES_MAX)
        return unlike(stream, "came in an answer that cannot be read");
    return answer.bytes == 0 ? FRAME_STREAM_END : keep(stream, &answer);
}

enum frame_stream_got frame_stream_fetch(struct frame_stream *stream, bool waits)
{
    char target[TARGET_BYTES], header[HEADER_BYTES];
    struct client_request request = { .method = "GET", .target = target };
    struct client_answer answer;

    (void)snprintf(target, sizeof target, "/admin/frames?from=%" PRIu64 "&skip=%" PRIu32,
                   stream->tail.number + 1, stream->buffered);
    (void)snprintf(header, sizeof header, "X-Min-Sequence: %" PRIu64 "\r\n",
                   stream->tail.last_sequence + 1);
    if (waits && stream->buffered == 0)
        request.headers = header;
    if (client_call(stream->client, &request, &answer) != 0) {
        stream->buffered = 0;
        return FRAME_STREAM_LOST;
    }
    if (answer.status == 200)
        return take(stream, &answer);
    stream->buffered = 0;
    if (answer.status == 503) { /* after a wait: none came */
        (void)snprintf(stream->client->error, sizeof stream->client->error, "it is not ready");
        return waits ? FRAME_STREAM_END : FRAME_STREAM_LOST;
    }
    if (answer.status == 404)
        return FRAME_STREAM_GONE;
    (void)context_fail(stream->context, EXIT_CODE_rejected, "GET /admin/frames: %.*s",
                       (int)(answer.body_count < 300 ? answer.body_count : 300), answer.body);
    return FRAME_STREAM_FAILED;
}

bool frame_stream_testify(struct frame_stream *stream)
{
    struct witness witness = { .frame = stream->tail.number,
                               .sequence = stream->tail.last_sequence,
                               .boot = stream->tail.boot,
                               .wall_ns = instant_now_ns() };

    memcpy(witness.hash, stream->tail.hash, sizeof witness.hash);
    int error = witness_write(stream->disk, stream->exchange, &witness, &stream->witness);
    return error == 0 || copy_failed(stream->context, stream->path, "witness", error);
}
