#include "net/http/http_map.h"

static const struct http_map_variant *chosen = &http_map_avx2;

void http_map_choose(enum cpu_level level)
{
    static const struct http_map_variant *const variants[CPU_LEVELS] = { &http_map_scalar,
                                                                         &http_map_avx2,
                                                                         &http_map_avx512 };
    INVARIANT(level <= cpu_level());
    chosen = variants[level];
}

int http_map_head(struct http_map *map, const char *text, size_t count, uint8_t *fault,
                  uint32_t *fault_at)
{
    return chosen->head(map, text, count, fault, fault_at);
}

int http_map_scan(const char *text, size_t from, size_t count, uint8_t *fault, uint32_t *fault_at)
{
    return chosen->scan(text, from, count, fault, fault_at);
}
