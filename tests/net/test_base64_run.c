/* base64_run: every variant against base/base64.h, the strict decoder of whole texts (wire.md W1),
 * at every length, with every byte at every place, beside memory that must not be touched. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base64.h"
#include "check.h"
#include "net/request/base64_run.h"

enum { TEXT_MAX = 208, BYTES_MAX = TEXT_MAX / 4 * 3 };

/* A page before one that nobody may touch: what ends at its end is not read or written beyond. */
static uint8_t *text_page, *bytes_page;
static size_t page_bytes;

static void map_pages(void)
{
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *memory =
        mmap(NULL, 4 * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    CHECK(mprotect(memory + page_bytes, page_bytes, PROT_NONE) == 0);
    CHECK(mprotect(memory + 3 * page_bytes, page_bytes, PROT_NONE) == 0);
    text_page = memory;
    bytes_page = memory + 2 * page_bytes;
}

static void fill(char *text, size_t count, unsigned seed)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i++)
        text[i] = alphabet[(seed + 7 * i + i * i / 3) % 64];
}

/* The run of `count` characters, computed here: length of the alphabet's characters, the padding
 * behind, and what the strict decoder says of the two together. */
static ptrdiff_t expect(uint8_t *bytes, size_t capacity, const char *text, size_t count,
                        size_t *used)
{
    size_t run = 0, pad = 0;
    while (run < count && text[run] != '\0' &&
           strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", text[run]) !=
               NULL)
        run++;
    while (pad < 2 && run + pad < count && text[run + pad] == '=')
        pad++;
    *used = run + pad;
    ptrdiff_t got = base64_decode(bytes, capacity, text, run + pad, NULL);
    return got < 0 ? -1 : got;
}

static void compare(const char *text, size_t count, size_t capacity)
{
    uint8_t want[BYTES_MAX + 3];
    size_t want_used, used = 0;
    ptrdiff_t wanted = expect(want, capacity, text, count, &want_used);
    char *at_end = (char *)text_page + page_bytes - count;
    uint8_t *bytes = bytes_page + page_bytes - capacity;

    memcpy(at_end, text, count);
    ptrdiff_t got = base64_run(bytes, capacity, at_end, count, &used);
    CHECK(got == wanted);
    if (got >= 0) {
        CHECK(used == want_used);
        CHECK(memcmp(bytes, want, (size_t)got) == 0);
    }
}

static void test_every_byte_at_every_place(void)
{
    char text[TEXT_MAX];
    for (size_t count = 0; count <= TEXT_MAX; count += count < 70 || count > 180 ? 1 : 13) {
        fill(text, count, (unsigned)count);
        compare(text, count, BASE64_BYTES_MAX(count));
        for (size_t at = 0; at < count; at += count < 40 ? 1 : 5) {
            char was = text[at];
            for (unsigned byte = 0; byte < 256; byte++) {
                text[at] = (char)byte;
                compare(text, count, BASE64_BYTES_MAX(count));
            }
            text[at] = was;
        }
    }
}

/* Padding, cut texts, and capacities around what the text needs. */
static void test_ends(void)
{
    static const char *const ends[] = { "", "=", "==", "===", "\"", "=\"", "==\"", "==A", "\"}" };
    char text[TEXT_MAX];
    for (size_t run = 0; run <= 140; run++) {
        for (size_t i = 0; i < CC_COUNT(ends); i++) {
            size_t count = run + strlen(ends[i]);
            for (unsigned seed = 0; seed < 64; seed += 16) { /* tail bits zero, and not */
                fill(text, run, seed);
                memcpy(text + run, ends[i], strlen(ends[i]));
                if (run > 0 && seed == 0)
                    text[run - 1] = 'A';
                size_t need = (run + 3) / 4 * 3;
                for (size_t capacity = need < 4 ? 0 : need - 4; capacity <= need; capacity++)
                    compare(text, count, capacity);
            }
        }
    }
}

/* The groups themselves: each variant writes what the plain one writes, and only that. */
static void test_groups(base64_run_groups *variant)
{
    char text[TEXT_MAX];
    for (size_t count = 0; count <= TEXT_MAX; count++) {
        for (size_t stop = 0; stop <= count; stop++) {
            uint8_t want[BYTES_MAX + 1], got[BYTES_MAX + 1];
            memset(want, 0xa5, sizeof want);
            memset(got, 0xa5, sizeof got);
            fill(text, count, (unsigned)stop);
            if (stop < count)
                text[stop] = '"';
            CHECK(base64_run_scalar(want, (const uint8_t *)text, count) == stop);
            CHECK(variant(got, (const uint8_t *)text, count) == stop);
            CHECK(memcmp(got, want, stop / 4 * 3) == 0);
            CHECK(got[count / 4 * 3] == 0xa5);
        }
    }
}

int main(void)
{
    static base64_run_groups *const variants[CPU_LEVELS] = { base64_run_scalar, base64_run_avx2,
                                                             base64_run_avx512 };
    map_pages();
    for (enum cpu_level level = CPU_SCALAR; level <= cpu_level(); level++) {
        base64_run_choose(level);
        test_every_byte_at_every_place();
        test_ends();
        test_groups(variants[level]);
        printf("%s: agrees\n", cpu_level_name(level));
    }
    return 0;
}
