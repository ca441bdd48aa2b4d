#include "perp/bench/corpus.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LINE_BYTES = 128, FIRST_REQUESTS = 1024, FIRST_BYTES = 1 << 20 };

const char *corpus_kind_name(enum corpus_kind kind)
{
    static const char *const names[] = {
#define X(name, help) #name,
        CORPUS_KIND_LIST(X)
#undef X
    };

    INVARIANT(kind < CORPUS_KIND_COUNT);
    return names[kind];
}

static bool grow(struct corpus *corpus, size_t count)
{
    if (corpus->count == corpus->capacity) {
        uint32_t capacity = corpus->capacity == 0 ? FIRST_REQUESTS : 2 * corpus->capacity;
        struct corpus_item *items = realloc(corpus->items, capacity * sizeof *items);
        if (items == NULL)
            return false;
        corpus->items = items;
        corpus->capacity = capacity;
    }
    if (corpus->used + count > corpus->room) {
        size_t room = 2 * corpus->room + count + FIRST_BYTES;
        uint8_t *bytes = realloc(corpus->bytes, room);
        if (bytes == NULL)
            return false;
        corpus->bytes = bytes;
        corpus->room = room;
    }
    return true;
}

bool corpus_add(struct corpus *corpus, enum corpus_kind kind, uint64_t due_ns, const void *bytes,
                size_t count)
{
    INVARIANT(count <= LOAD_REQUEST_MAX);
    if (corpus->count == CORPUS_REQUESTS_MAX || !grow(corpus, count))
        return false;
    corpus->items[corpus->count++] = (struct corpus_item){
        .due_ns = due_ns, .at = corpus->used, .count = (uint32_t)count, .kind = (uint8_t)kind
    };
    memcpy(corpus->bytes + corpus->used, bytes, count);
    corpus->used += count;
    return true;
}

void corpus_request(const struct corpus *corpus, uint32_t index, struct load_request *request)
{
    const struct corpus_item *item = &corpus->items[index];

    INVARIANT(index < corpus->count);
    *request = (struct load_request){ .bytes = corpus->bytes + item->at,
                                      .count = item->count,
                                      .kind = item->kind,
                                      .is_read = item->kind == CORPUS_read };
}

bool corpus_write(const struct corpus *corpus, const char *path, char error[256])
{
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *out = file < 0 ? NULL : fdopen(file, "w");

    if (out == NULL) {
        snprintf(error, 256, "%.180s: %s", path, strerror(errno));
        return false;
    }
    fprintf(out, "perp-corpus 1 %" PRIu32 " %" PRIu64 " %.3f\n", corpus->count,
            corpus->begin_unix_ms, corpus->rate_per_s);
    for (uint32_t i = 0; i < corpus->count; i++) {
        const struct corpus_item *item = &corpus->items[i];
        fprintf(out, "%s %" PRIu64 " %" PRIu32 "\n", corpus_kind_name(item->kind),
                item->due_ns / 1000, item->count);
        fwrite(corpus->bytes + item->at, 1, item->count, out);
        fputc('\n', out);
    }
    bool is_written = !ferror(out);
    if (fclose(out) != 0 || !is_written) {
        snprintf(error, 256, "%.180s: %s", path, strerror(errno));
        return false;
    }
    return true;
}

/* A whole number at the begin of the text, and a space or the end of the line after it. */
static bool read_number(char **at, uint64_t most, uint64_t *value)
{
    char *end;

    if (**at < '0' || **at > '9')
        return false;
    errno = 0;
    *value = strtoull(*at, &end, 10);
    bool is_right = errno == 0 && *value <= most && (*end == ' ' || *end == '\n');
    *at = end + 1;
    return is_right;
}

static bool read_head(struct corpus *corpus, FILE *in, uint64_t *count)
{
    static const char START[] = "perp-corpus 1 ";
    char line[LINE_BYTES], *at = line + sizeof START - 1, *end;

    if (fgets(line, sizeof line, in) == NULL || strncmp(line, START, sizeof START - 1) != 0 ||
        !read_number(&at, CORPUS_REQUESTS_MAX, count) ||
        !read_number(&at, INT64_MAX / 1000000, &corpus->begin_unix_ms))
        return false;
    corpus->rate_per_s = strtod(at, &end);
    return end > at && *end == '\n' && corpus->rate_per_s > 0 && corpus->rate_per_s < 1e9;
}

static bool read_item(struct corpus *corpus, FILE *in)
{
    char line[LINE_BYTES], *at = line, bytes[LOAD_REQUEST_MAX];
    uint64_t due_us, count;

    if (fgets(line, sizeof line, in) == NULL)
        return false;
    for (unsigned kind = 0; kind < CORPUS_KIND_COUNT; kind++) {
        size_t length = strlen(corpus_kind_name(kind));
        if (strncmp(line, corpus_kind_name(kind), length) != 0 || line[length] != ' ')
            continue;
        at = line + length + 1;
        return read_number(&at, UINT64_C(86400000000), &due_us) &&
               read_number(&at, LOAD_REQUEST_MAX, &count) && count > 0 &&
               (corpus->count == 0 || due_us * 1000 >= corpus->items[corpus->count - 1].due_ns) &&
               fread(bytes, 1, count, in) == count && fgetc(in) == '\n' &&
               corpus_add(corpus, kind, due_us * 1000, bytes, count);
    }
    return false;
}

bool corpus_read(struct corpus *corpus, const char *path, char error[256])
{
    FILE *in = fopen(path, "re");
    uint64_t count = 0;

    *corpus = (struct corpus){ 0 };
    if (in == NULL) {
        snprintf(error, 256, "%.180s: %s", path, strerror(errno));
        return false;
    }
    bool is_read = read_head(corpus, in, &count);
    while (is_read && corpus->count < count)
        is_read = read_item(corpus, in);
    is_read = is_read && fgetc(in) == EOF && count > 0;
    (void)fclose(in);
    if (is_read)
        return true;
    snprintf(error, 256, "%.180s: no corpus, or it is damaged after request %" PRIu32, path,
             corpus->count);
    corpus_free(corpus);
    return false;
}

void corpus_free(struct corpus *corpus)
{
    free(corpus->items);
    free(corpus->bytes);
    *corpus = (struct corpus){ 0 };
}
