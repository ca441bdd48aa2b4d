#include "image_copy.h"

#include "base/hash.h"
#include "engine/state/state.h"
#include "rig.h"

static void take_section(struct image_sink *sink, uint32_t code, uint32_t version)
{
    struct image_copy *copy = (void *)sink;

    CHECK(copy->part_count < CC_COUNT(copy->parts));
    copy->parts[copy->part_count++] = (struct image_part){ .code = code, .version = version };
}

static void grow(struct image_copy *copy, size_t count)
{
    if (copy->used + count <= copy->room)
        return;
    copy->room = 2 * copy->room + count + 4096;
    copy->bytes = realloc(copy->bytes, copy->room);
    CHECK(copy->bytes != NULL);
}

/* The bytes do not move any more. */
static void point(struct image_copy *copy)
{
    const uint8_t *at = copy->bytes;

    for (uint32_t i = 0; i < copy->part_count; i++) {
        copy->parts[i].bytes = at;
        at += copy->parts[i].byte_count;
    }
}

static void take_bytes(struct image_sink *sink, const void *bytes, size_t count)
{
    struct image_copy *copy = (void *)sink;

    grow(copy, count);
    memcpy(copy->bytes + copy->used, bytes, count);
    copy->used += count;
    copy->parts[copy->part_count - 1].byte_count += count;
}

void image_copy_take(struct image_copy *copy, struct engine *engine)
{
    copy->sink = (struct image_sink){ .section = take_section, .bytes = take_bytes };
    copy->used = 0;
    copy->part_count = 0;
    engine_image(engine, &copy->sink);
    point(copy);
}

void image_copy_free(struct image_copy *copy)
{
    free(copy->bytes);
    memset(copy, 0, sizeof *copy);
}

struct image_part *image_copy_part(struct image_copy *copy, uint32_t code)
{
    struct image_part *found = NULL;

    for (uint32_t i = 0; i < copy->part_count; i++)
        if (copy->parts[i].code == code)
            found = &copy->parts[i];
    CHECK(found != NULL);
    return found;
}

bool image_copy_equal(const struct image_copy *a, const struct image_copy *b)
{
    if (a->part_count != b->part_count)
        return false;
    for (uint32_t i = 0; i < a->part_count; i++)
        if (a->parts[i].code != b->parts[i].code || a->parts[i].version != b->parts[i].version ||
            a->parts[i].byte_count != b->parts[i].byte_count ||
            memcmp(a->parts[i].bytes, b->parts[i].bytes, a->parts[i].byte_count) != 0)
            return false;
    return true;
}

void image_copy_hash(const struct image_copy *copy, uint8_t hash[32])
{
    struct hash_state state;

    hash_begin(&state);
    hash_add(&state, copy->bytes, copy->used);
    hash_end(&state, hash);
}

bool image_copy_open(const struct image_copy *copy, struct host *host, const char *room,
                     struct image_problem *problem)
{
    struct option_engine needs;

    if (!image_needs(copy->parts, copy->part_count, &needs, problem))
        return false;
    host_open_for(host, room == NULL ? &needs : NULL, room);
    if (!image_load(host->engine, copy->parts, copy->part_count, problem)) {
        host_close(host);
        return false;
    }
    host->clock_ns = engine_time(host->engine);
    return true;
}

bool image_copy_reopen(const struct image_copy *copy, struct host *host,
                       struct image_problem *problem)
{
    struct option_engine capacity = host->engine->capacity;

    CHECK(madvise(host->memory, host->bytes, MADV_DONTNEED) == 0); /* zeros again */
    host->engine = engine_init(host->memory, host->bytes, host->key, &capacity);
    return image_load(host->engine, copy->parts, copy->part_count, problem);
}

void image_copy_save(const struct image_copy *copy, const char *path)
{
    FILE *file = fopen(path, "wb");

    CHECK(file != NULL);
    for (uint32_t i = 0; i < copy->part_count; i++) {
        const struct image_part *part = &copy->parts[i];
        CHECK(fwrite(&part->code, 4, 1, file) == 1);
        CHECK(fwrite(&part->version, 4, 1, file) == 1);
        CHECK(fwrite(&part->byte_count, 8, 1, file) == 1);
        CHECK(fwrite(part->bytes, 1, part->byte_count, file) == part->byte_count);
    }
    CHECK(fclose(file) == 0);
}

void image_copy_read(struct image_copy *copy, const char *path)
{
    FILE *file = fopen(path, "rb");
    struct image_part part = { 0 };

    CHECK(file != NULL);
    copy->used = 0;
    copy->part_count = 0;
    while (fread(&part.code, 4, 1, file) == 1) {
        CHECK(copy->part_count < CC_COUNT(copy->parts));
        CHECK(fread(&part.version, 4, 1, file) == 1);
        CHECK(fread(&part.byte_count, 8, 1, file) == 1);
        grow(copy, part.byte_count);
        CHECK(fread(copy->bytes + copy->used, 1, part.byte_count, file) == part.byte_count);
        copy->used += part.byte_count;
        copy->parts[copy->part_count++] = part;
    }
    point(copy);
    CHECK(fclose(file) == 0);
}
