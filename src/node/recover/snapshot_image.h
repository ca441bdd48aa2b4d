/* snapshot_image.h - an engine's image as the sections of a snapshot's file, and the head that the
 * file gets: of a fold in one piece, and of one in slices.
 *
 *   engine ── image_write, image_write_piece ──> snapshot_image ──> store/snapshot's writer
 *
 * Any thread; no state of its own. */
#ifndef NODE_RECOVER_SNAPSHOT_IMAGE_H
#define NODE_RECOVER_SNAPSHOT_IMAGE_H

#include "engine/image/image.h"
#include "store/snapshot.h"

struct snapshot_image {
    struct image_sink sink; /* first */
    struct snapshot_writer *writer;
};

/* Of a writer, which outlives the result and keeps its own errors until snapshot_end. */
struct snapshot_image snapshot_image_to(struct snapshot_writer *writer);

/* The head of a snapshot of this engine, whose last record ends the frame `number` of that boot and
 * hash. image_hash and sections are the writer's. */
struct snapshot_head snapshot_image_head(const struct engine *engine, uint64_t number,
                                         uint64_t boot, const uint8_t frame_hash[HASH_BYTES]);

#endif
