/* arena: a dry run counts what the second run takes; the kernel's memory is zero. */
#include "base/arena.h"
#include "check.h"

static size_t lay_out(struct arena *arena, uint8_t **bytes, uint64_t **words, uint8_t **lines)
{
    *bytes = arena_alloc(arena, 3, 1, 1);
    *words = arena_alloc(arena, 5, 8, 8);
    *lines = arena_alloc(arena, 7, 64, 64);
    return arena->used;
}

int main(void)
{
    uint8_t *bytes, *lines;
    uint64_t *words;
    struct arena arena;
    arena_init(&arena, NULL, 0);
    size_t size = lay_out(&arena, &bytes, &words, &lines);
    CHECK(size == 64 + 7 * 64); /* 3, padded to 8, + 40 = 48, padded to 64, + 448 */
    CHECK(bytes == NULL && words == NULL && lines == NULL);

    void *memory;
    CHECK(arena_map(REGION_rings, &memory, size, true) == 0);
    for (size_t i = 0; i < size; i++)
        CHECK(((uint8_t *)memory)[i] == 0);
    arena_init(&arena, memory, size);
    CHECK(lay_out(&arena, &bytes, &words, &lines) == size);
    CHECK((void *)bytes == memory && (uint8_t *)words == bytes + 8 && lines == bytes + 64);
    arena_unmap(memory, size);
    arena_unmap(NULL, 0);

    CHECK(arena_map(REGION_rings, &memory, (size_t)8 << 20, false) ==
          0); /* above a huge page, untouched */
    ((uint8_t *)memory)[(8 << 20) - 1] = 1;
    arena_unmap(memory, (size_t)8 << 20);
    return 0;
}
