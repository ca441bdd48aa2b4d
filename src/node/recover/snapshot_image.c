#include "node/recover/snapshot_image.h"

#include "engine/engine.h"

static void to_section(struct image_sink *sink, uint32_t code, uint32_t version)
{
    snapshot_section_begin(((struct snapshot_image *)(void *)sink)->writer, code, version);
}

static void to_bytes(struct image_sink *sink, const void *bytes, size_t count)
{
    snapshot_bytes(((struct snapshot_image *)(void *)sink)->writer, bytes, count);
}

struct snapshot_image snapshot_image_to(struct snapshot_writer *writer)
{
    return (struct snapshot_image){ .sink = { .section = to_section, .bytes = to_bytes },
                                    .writer = writer };
}

struct snapshot_head snapshot_image_head(const struct engine *engine, uint64_t number,
                                         uint64_t boot, const uint8_t frame_hash[HASH_BYTES])
{
    struct snapshot_head head = { .sequence = engine_sequence(engine),
                                  .frame = number,
                                  .t_ns = engine_time(engine),
                                  .boot = boot,
                                  .rules_version = ENGINE_RULES_VERSION };

    engine_effects_hash(engine, head.effects_hash);
    memcpy(head.frame_hash, frame_hash, HASH_BYTES);
    return head;
}
