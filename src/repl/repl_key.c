#include "repl/repl_key.h"

#include <inttypes.h>
#include <stdio.h>

#include "repl/etcd_call.h"

enum { NUMBER_DIGITS = 16 };

struct repl_key repl_key_of(const char *cluster, const char *name)
{
    struct repl_key key;
    int count = snprintf(key.text, sizeof key.text, "perp/%s/%s", cluster, name);

    INVARIANT(count > 0 && (size_t)count < sizeof key.text);
    return key;
}

static struct repl_key numbered(const char *cluster, const char *folder, uint64_t number)
{
    char name[9 + NUMBER_DIGITS + 1];
    int count = snprintf(name, sizeof name, "%s/%016" PRIx64, folder, number);

    INVARIANT(count > 0 && (size_t)count < sizeof name);
    return repl_key_of(cluster, name);
}

struct repl_key repl_key_frame(const char *cluster, uint64_t number)
{
    return numbered(cluster, "log", number);
}

struct repl_key repl_key_segment(const char *cluster, uint64_t segment)
{
    return numbered(cluster, "segment", segment);
}

struct repl_key repl_key_segment_end(const char *cluster)
{
    return repl_key_of(cluster, "segment/~");
}

struct repl_key repl_key_snapshot(const char *cluster, uint64_t sequence)
{
    return numbered(cluster, "snapshot", sequence);
}

struct repl_key repl_key_snapshot_end(const char *cluster)
{
    return repl_key_of(cluster, "snapshot/~");
}

struct repl_key repl_key_log_end(const char *cluster)
{
    return repl_key_of(cluster, "log/~");
}

static void fill_page(struct repl_key_page *page, struct repl_key from, struct repl_key end,
                      uint32_t limit)
{
    page->from = from;
    page->end = end;
    page->request = (struct etcd_request){
        .kind = ETCD_RANGE,
        .key = etcd_text(page->from.text),
        .end = etcd_text(page->end.text),
        .limit = limit,
    };
}

void repl_key_page_log(struct repl_key_page *page, const char *cluster, uint64_t frame,
                       uint32_t limit)
{
    fill_page(page, repl_key_frame(cluster, frame), repl_key_log_end(cluster), limit);
}

void repl_key_page_segments(struct repl_key_page *page, const char *cluster, uint64_t segment,
                            uint32_t limit)
{
    fill_page(page, repl_key_segment(cluster, segment), repl_key_segment_end(cluster), limit);
}

uint64_t repl_key_number(const char *cluster, struct etcd_bytes key)
{
    struct repl_key prefix = repl_key_of(cluster, "log/");
    size_t skip = strlen(prefix.text);
    const char *text = key.bytes;
    uint64_t number = 0;

    if (key.count != skip + NUMBER_DIGITS || memcmp(text, prefix.text, skip) != 0)
        return 0;
    for (size_t i = skip; i < key.count; i++) {
        char digit = text[i];
        if (digit >= '0' && digit <= '9')
            number = number << 4 | (uint64_t)(digit - '0');
        else if (digit >= 'a' && digit <= 'f')
            number = number << 4 | (uint64_t)(digit - 'a' + 10);
        else
            return 0;
    }
    return number;
}
