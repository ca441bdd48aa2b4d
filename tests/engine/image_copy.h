/* image_copy.h - an image in memory: its sections as they were written, and states made from it. */
#ifndef TESTS_ENGINE_IMAGE_COPY_H
#define TESTS_ENGINE_IMAGE_COPY_H

#include "engine/image/image.h"
#include "engine/image/image_load.h"
#include "host.h"

struct image_copy {
    struct image_sink sink; /* first */
    uint8_t *bytes;         /* all sections, one behind the other */
    size_t used, room;
    struct image_part parts[IMAGE_SECTION_END];
    uint32_t part_count;
};

/* Takes the image of an engine; a copy that was taken before is reused. A zeroed one is empty. */
void image_copy_take(struct image_copy *copy, struct engine *engine);
void image_copy_free(struct image_copy *copy);

/* Its section of this code. CHECKs that it is there. */
struct image_part *image_copy_part(struct image_copy *copy, uint32_t code);

/* Whether both hold the same sections, versions and bytes. */
bool image_copy_equal(const struct image_copy *a, const struct image_copy *b);

/* BLAKE2b-256 of the bytes in their order. */
void image_copy_hash(const struct image_copy *copy, uint8_t hash[32]);

/* Opens a host around a state made from the copy. `room` (overrides as in host_open, or NULL: what
 * image_needs tells) is what memory is laid out for. False: refused, the host is closed. */
bool image_copy_open(const struct image_copy *copy, struct host *host, const char *room,
                     struct image_problem *problem);

/* Makes the state of the copy in the memory of an open host, whatever it holds. False: refused, the
 * host is to be closed or used again here. */
CC_MUST_USE bool image_copy_reopen(const struct image_copy *copy, struct host *host,
                                   struct image_problem *problem);

/* A copy as a file: of each section code u32, version u32, byte count u64, bytes. CHECK success. */
void image_copy_save(const struct image_copy *copy, const char *path);
void image_copy_read(struct image_copy *copy, const char *path);

#endif
