/* comma_list: the items between commas, empty ones too. */
#include "base/comma_list.h"
#include "check.h"

/* The items of the first `count` bytes, each followed by a bar. */
static const char *items_of(const char *text, size_t count)
{
    static char joined[64];
    struct comma_list list = comma_list_of(text, count);
    const char *item = NULL;
    size_t bytes = 0, at = 0;

    while (comma_list_next(&list, &item, &bytes)) {
        CHECK(at + bytes + 2 <= sizeof joined && item >= text && item + bytes <= text + count);
        memcpy(joined + at, item, bytes);
        at += bytes;
        joined[at++] = '|';
    }
    const char *last = item;
    size_t last_bytes = bytes;
    CHECK(!comma_list_next(&list, &item, &bytes) && item == last && bytes == last_bytes);
    joined[at] = '\0';
    return joined;
}

int main(void)
{
    static const struct {
        int line;
        const char *name, *items;
    } rows[] = {
#define R(...) { __LINE__, __VA_ARGS__ }
        R("", "|"),       R("a", "a|"),     R("ab,c", "ab|c|"), R(",", "||"),
        R("a,", "a||"),   R(",a", "|a|"),   R("a,,b", "a||b|"), R(" a, b ", " a| b |"),
        R("a;b", "a;b|"), R(",,,", "||||"),
#undef R
    };

    for (size_t i = 0; i < CC_COUNT(rows); i++)
        CHECK_ROW(&rows[i],
                  strcmp(items_of(rows[i].name, strlen(rows[i].name)), rows[i].items) == 0);
    CHECK(strcmp(items_of("a,b,c", 3), "a|b|") == 0); /* the rest is not the text's */
    CHECK(strcmp(items_of("a,b,c", 2), "a||") == 0);
    return 0;
}
