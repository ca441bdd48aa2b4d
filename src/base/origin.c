#include "base/origin.h"

/* scheme://host[:port] and nothing after it, in lower case. */
static bool is_origin(const char *text, size_t count)
{
    struct host_list host = { 0 };
    char copy[ORIGIN_BYTES_MAX + 1];
    size_t scheme = strncmp(text, "https://", 8) == 0  ? 8
                    : strncmp(text, "http://", 7) == 0 ? 7
                                                       : 0;
    if (scheme == 0 || count <= scheme || count > ORIGIN_BYTES_MAX)
        return false;
    memcpy(copy, text + scheme, count - scheme);
    copy[count - scheme] = '\0';
    for (char *at = copy; *at != '\0'; at++)
        if (*at >= 'A' && *at <= 'Z')
            return false;
    char *colon = strrchr(copy, ':');
    if (colon != NULL && strchr(colon, ']') == NULL) {
        if (colon[1] == '\0' || strspn(colon + 1, "0123456789") != strlen(colon + 1))
            return false;
        *colon = '\0';
    }
    return host_list_add(&host, copy) && host.count == 1;
}

bool origin_list_read(struct origin_list *list, const char *text)
{
    *list = (struct origin_list){ .any = strcmp(text, "*") == 0 };
    if (list->any || text[0] == '\0')
        return true;
    for (;;) {
        size_t count = strcspn(text, ",");
        if (list->count == ORIGIN_LIST_MAX || !is_origin(text, count))
            return false;
        list->origins[list->count++] = (struct host_name){ text, (uint32_t)count };
        if (text[count] == '\0')
            return true;
        text += count + 1;
    }
}

uint8_t origin_list_find(const struct origin_list *list, const char *text, size_t count)
{
    if (count == 0)
        return ORIGIN_NONE;
    if (list->any)
        return ORIGIN_ANY;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->origins[i].count == count && memcmp(list->origins[i].text, text, count) == 0)
            return (uint8_t)(i + 1);
    return ORIGIN_NONE;
}

struct host_name origin_list_at(const struct origin_list *list, uint8_t place)
{
    if (place == ORIGIN_ANY)
        return (struct host_name){ "*", 1 };
    INVARIANT(place != ORIGIN_NONE && place <= list->count);
    return list->origins[place - 1];
}
