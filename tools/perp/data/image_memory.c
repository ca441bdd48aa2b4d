#include "perp/data/image_memory.h"

#include <stdlib.h>

#include "engine/image/image.h"

struct memory_sink {
    struct image_sink sink; /* first */
    struct image_memory *image;
    size_t count, capacity;
};

static void begin_section(struct image_sink *sink, uint32_t code, uint32_t version)
{
    struct image_memory *image = ((struct memory_sink *)(void *)sink)->image;
    INVARIANT(image->section_count < SNAPSHOT_SECTIONS_MAX);
    image->sections[image->section_count++] =
        (struct snapshot_section){ .code = code, .version = version };
}

static void add_bytes(struct image_sink *sink, const void *bytes, size_t count)
{
    struct memory_sink *memory = (struct memory_sink *)(void *)sink;
    struct image_memory *image = memory->image;
    if (memory->count + count > memory->capacity) {
        memory->capacity = 2 * (memory->count + count);
        image->bytes = realloc(image->bytes, memory->capacity);
        INVARIANT(image->bytes != NULL);
    }
    memcpy(image->bytes + memory->count, bytes, count);
    memory->count += count;
    image->sections[image->section_count - 1].byte_count += count;
}

void image_memory_copy(struct image_memory *image, struct engine *engine)
{
    struct memory_sink sink = { .sink = { .section = begin_section, .bytes = add_bytes },
                                .image = image };
    uint64_t at = 0;
    *image = (struct image_memory){ 0 };
    image_write(engine, &sink.sink);
    for (uint32_t i = 0; i < image->section_count; i++) {
        image->sections[i].bytes = image->bytes + at; /* the size is final now */
        at += image->sections[i].byte_count;
    }
}

void image_memory_free(struct image_memory *image)
{
    free(image->bytes);
    *image = (struct image_memory){ 0 };
}
