/* frame_stream.h - the frames of a running exchange, fetched from GET /admin/frames and written
 * into the segment files of a copy, each at its own place, synced before the next is asked for.
 *
 *   perpd ── bytes of frames ──> whole? chains to the last one? ──> journal/N.seg ──> witness
 *
 * A function that returns false has printed an error and set the context's exit code.
 *
 * Owner. The command's thread. Bound. Memory: one frame and one answer. */
#ifndef PERP_DATA_FRAME_STREAM_H
#define PERP_DATA_FRAME_STREAM_H

#include "perp/data/copy.h"
#include "store/witness.h"

struct frame_stream {
    struct context *context;
    struct client *client; /* of the admin listener, with its token */
    struct disk *disk;     /* of the copy, at `path` */
    const char *path;
    const struct exchange_file *exchange;
    uint32_t segment_bytes;
    struct frame_tail tail; /* of the last frame in the copy */
    uint64_t segment;       /* of `file` */
    int file;               /* -1: none is open */
    uint64_t frames, bytes; /* fetched */
    uint8_t *buffer;        /* frames of one answer, or the pieces of a long one */
    uint32_t buffered;      /* bytes of a long one so far */
    struct slot_location witness;
};

/* What one request brought. */
enum frame_stream_got {
    FRAME_STREAM_FRAMES, /* some: ask again */
    FRAME_STREAM_END,    /* none is there yet */
    FRAME_STREAM_GONE,   /* the next frame is in the archive */
    FRAME_STREAM_LOST,   /* no answer; client->error says why, and nothing was printed */
    FRAME_STREAM_FAILED, /* an error was printed */
};

/* `tail` and what is above it in the struct are set before. */
CC_MUST_USE bool frame_stream_open(struct frame_stream *stream);
void frame_stream_close(struct frame_stream *stream);

/* Asks once for the frames after the tail. `waits`: up to 1 s, for the next sequence. */
CC_MUST_USE enum frame_stream_got frame_stream_fetch(struct frame_stream *stream, bool waits);

/* Makes `witness` name the tail. */
CC_MUST_USE bool frame_stream_testify(struct frame_stream *stream);

#endif
