/* image_memory.h - the image of an engine in memory, as sections like those of a snapshot.
 *
 * Owner. One thread. */
#ifndef PERP_DATA_IMAGE_MEMORY_H
#define PERP_DATA_IMAGE_MEMORY_H

#include "engine/engine.h"
#include "store/snapshot.h"

struct image_memory {
    struct snapshot_section sections[SNAPSHOT_SECTIONS_MAX];
    uint32_t section_count;
    uint8_t *bytes;
};

/* Makes the image. The memory for it must be available (INVARIANT). */
void image_memory_copy(struct image_memory *image, struct engine *engine);
void image_memory_free(struct image_memory *image);

#endif
