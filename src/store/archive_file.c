#include "store/archive_file.h"

#include <errno.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "store/segment.h"
#include "store/segment_set.h"

enum { LENGTH_AT = 80, RECORD_BYTES_AT = 88 /* journal.md, Frame */ };

uint64_t archive_file_bytes_max(uint32_t segment_bytes)
{
    return ZSTD_compressBound(segment_bytes);
}

/* ---- a segment looked at --------------------------------------------------------------------- */

int archive_file_survey(struct archive_row *out, const uint8_t *segment, uint32_t segment_bytes,
                        const struct exchange_file *exchange, uint64_t number,
                        const struct frame_tail *before)
{
    uint32_t offset = SEGMENT_FRAMES_OFFSET;
    struct segment_header segment_header;
    struct frame_header header;
    struct frame_tail tail = { 0 };

    *out = (struct archive_row){ .segment = number };
    if (segment_decode(&segment_header, segment) < 0 ||
        !segment_belongs(&segment_header, exchange, number))
        return -EBADMSG;
    if (before)
        tail = *before;
    while (offset < segment_bytes && frame_decode(&header, segment + offset, segment_bytes - offset,
                                                  exchange_file_journal(exchange, number), number,
                                                  segment_header.block_bytes) == 0) {
        bool is_first = offset == SEGMENT_FRAMES_OFFSET;

        if (is_first && !before) {
            tail.number = header.number - 1;
            tail.last_sequence = header.first_sequence - 1;
            memcpy(tail.hash, header.previous_hash, sizeof tail.hash);
        }
        if (!frame_chains(&tail, &header) ||
            frame_records_survey(&header, segment + offset, &out->last_t_ns) < 0)
            return -EBADMSG;
        if (is_first) {
            out->first_frame = header.number;
            out->first_sequence = header.first_sequence;
        }
        frame_tail_advance(&tail, &header, segment + offset);
        offset += header.length;
    }
    if (offset == SEGMENT_FRAMES_OFFSET ||
        (offset < segment_bytes && !cc_is_zero(segment + offset, segment_bytes - offset)))
        return -EBADMSG;
    out->last_frame = tail.number;
    out->last_sequence = tail.last_sequence;
    memcpy(out->last_frame_hash, tail.hash, sizeof out->last_frame_hash);
    return 0;
}

/* ---- packing --------------------------------------------------------------------------------- */

/* The bytes of the frame at `offset` that are kept; 0 after the last. */
static uint32_t frame_kept(const uint8_t *segment, uint32_t segment_bytes, uint32_t offset,
                           uint32_t *length)
{
    *length = 0;
    if (offset >= segment_bytes)
        return 0;
    *length = cc_load32(segment + offset + LENGTH_AT);
    return *length == 0 ? 0 : FRAME_HEADER_BYTES + cc_load32(segment + offset + RECORD_BYTES_AT);
}

static uint64_t kept_bytes(const uint8_t *segment, uint32_t segment_bytes)
{
    uint64_t total = SEGMENT_FRAMES_OFFSET;
    uint32_t offset = SEGMENT_FRAMES_OFFSET;
    uint32_t length;
    uint32_t kept;

    while ((kept = frame_kept(segment, segment_bytes, offset, &length)) > 0) {
        total += kept;
        offset += length;
    }
    return total;
}

/* False without memory: zstd takes its own when it begins. */
CC_MUST_USE static bool piece_pack(ZSTD_CCtx *context, ZSTD_outBuffer *out, const uint8_t *bytes,
                                   size_t count, ZSTD_EndDirective end)
{
    ZSTD_inBuffer in = { .src = bytes, .size = count };
    size_t left;

    do {
        left = ZSTD_compressStream2(context, out, &in, end);
        if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
            return false;
        INVARIANT(!ZSTD_isError(left)); /* there is room for all of it */
    } while (in.pos < in.size || (end == ZSTD_e_end && left > 0));
    return true;
}

int archive_file_pack(uint8_t **file, size_t *file_bytes, const uint8_t *segment,
                      uint32_t segment_bytes)
{
    const uint64_t total = kept_bytes(segment, segment_bytes);
    ZSTD_outBuffer out = { .size = ZSTD_compressBound(total) };
    ZSTD_CCtx *context = ZSTD_createCCtx();
    uint32_t offset = SEGMENT_FRAMES_OFFSET;
    uint32_t length;
    uint32_t kept;

    out.dst = malloc(out.size);
    if (!context || !out.dst) {
        (void)ZSTD_freeCCtx(context);
        free(out.dst);
        return -ENOMEM;
    }
    (void)ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, ARCHIVE_FILE_LEVEL);
    (void)ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    (void)ZSTD_CCtx_setPledgedSrcSize(context, total);
    bool packed = piece_pack(context, &out, segment, SEGMENT_FRAMES_OFFSET, ZSTD_e_continue);
    while (packed && (kept = frame_kept(segment, segment_bytes, offset, &length)) > 0) {
        packed = piece_pack(context, &out, segment + offset, kept, ZSTD_e_continue);
        offset += length;
    }
    packed = packed && piece_pack(context, &out, NULL, 0, ZSTD_e_end);
    (void)ZSTD_freeCCtx(context);
    if (!packed) {
        free(out.dst);
        return -ENOMEM;
    }
    *file = out.dst;
    *file_bytes = out.pos;
    return 0;
}

/* ---- unpacking ------------------------------------------------------------------------------- */

struct unpacking {
    ZSTD_DCtx *context;
    ZSTD_inBuffer in;
    bool ended; /* the zstd frame is complete */
};

/* Gives up to `count` unpacked bytes; fewer only at the end; -EBADMSG. */
static int64_t bytes_unpack(struct unpacking *unpacking, uint8_t *bytes, size_t count)
{
    ZSTD_outBuffer out = { .dst = bytes, .size = count };

    while (out.pos < out.size && !unpacking->ended) {
        size_t in_before = unpacking->in.pos;
        size_t out_before = out.pos;
        size_t left = ZSTD_decompressStream(unpacking->context, &out, &unpacking->in);

        if (ZSTD_isError(left))
            return -EBADMSG;
        unpacking->ended = left == 0;
        if (left > 0 && unpacking->in.pos == in_before && out.pos == out_before)
            return -EBADMSG; /* cut short */
    }
    return (int64_t)out.pos;
}

static int segment_unpack(struct unpacking *unpacking, uint8_t *out, uint32_t segment_bytes)
{
    uint32_t offset = SEGMENT_FRAMES_OFFSET;
    uint8_t more;

    if (bytes_unpack(unpacking, out, SEGMENT_FRAMES_OFFSET) != SEGMENT_FRAMES_OFFSET)
        return -EBADMSG;
    while (segment_bytes - offset >= FRAME_HEADER_BYTES) {
        int64_t got = bytes_unpack(unpacking, out + offset, FRAME_HEADER_BYTES);
        uint32_t record_bytes;
        uint32_t length;

        if (got == 0)
            break;
        if (got != FRAME_HEADER_BYTES)
            return -EBADMSG;
        length = cc_load32(out + offset + LENGTH_AT);
        record_bytes = cc_load32(out + offset + RECORD_BYTES_AT);
        if (length < FRAME_HEADER_BYTES || length > FRAME_BYTES_MAX ||
            length > segment_bytes - offset || record_bytes > length - FRAME_HEADER_BYTES ||
            bytes_unpack(unpacking, out + offset + FRAME_HEADER_BYTES, record_bytes) !=
                record_bytes)
            return -EBADMSG;
        offset += length;
    }
    /* The checksum of zstd is after the last byte: it is read with the end. */
    return bytes_unpack(unpacking, &more, 1) == 0 && unpacking->in.pos == unpacking->in.size
               ? 0
               : -EBADMSG;
}

int archive_file_unpack(uint8_t *out, uint32_t segment_bytes, const uint8_t *file,
                        size_t file_bytes)
{
    struct unpacking unpacking = {
        .context = ZSTD_createDCtx(),
        .in = { .src = file, .size = file_bytes },
    };
    int error;

    INVARIANT(segment_bytes >= SEGMENT_BYTES_MIN && segment_bytes % SEGMENT_FRAMES_OFFSET == 0);
    if (!unpacking.context)
        return -ENOMEM;
    (void)ZSTD_DCtx_setParameter(unpacking.context, ZSTD_d_windowLogMax, ARCHIVE_FILE_WINDOW_LOG);
    memset(out, 0, segment_bytes);
    error = segment_unpack(&unpacking, out, segment_bytes);
    (void)ZSTD_freeDCtx(unpacking.context);
    return error;
}
