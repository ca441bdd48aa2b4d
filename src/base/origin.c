#include "base/origin.h"

#include "base/comma_list.h"
#include "base/text.h"

bool origin_split(const char *text, size_t count, struct origin_parts *parts)
{
    static const char https[] = "https://", http[] = "http://";
    bool is_https = count >= sizeof https - 1 && memcmp(text, https, sizeof https - 1) == 0;
    size_t at = is_https ? sizeof https - 1 : sizeof http - 1;

    if (!is_https && (count < at || memcmp(text, http, at) != 0))
        return false;
    size_t end = count;
    while (end > at && text[end - 1] != ':' && text[end - 1] != ']')
        end--;
    bool has_port = end > at && text[end - 1] == ':';
    parts->is_https = is_https;
    parts->port = has_port ? (struct host_name){ text + end, (uint32_t)(count - end) }
                           : (struct host_name){ NULL, 0 };
    end = has_port ? end - 1 : count;
    parts->host = (struct host_name){ text + at, (uint32_t)(end - at) };
    return true;
}

/* scheme://host[:port] and nothing after it, in lower case. */
static bool is_origin(const char *text, size_t count)
{
    struct origin_parts parts;
    struct host_list host = { 0 };
    char copy[ORIGIN_BYTES_MAX + 1];

    if (count > ORIGIN_BYTES_MAX || !origin_split(text, count, &parts))
        return false;
    for (uint32_t i = 0; i < parts.port.count; i++)
        if (!text_is_digit(parts.port.text[i]))
            return false;
    for (uint32_t i = 0; i < parts.host.count; i++)
        if (parts.host.text[i] >= 'A' && parts.host.text[i] <= 'Z')
            return false;
    memcpy(copy, parts.host.text, parts.host.count);
    copy[parts.host.count] = '\0';
    return (parts.port.text == NULL || parts.port.count > 0) && host_list_add(&host, copy);
}

bool origin_list_read(struct origin_list *list, const char *text)
{
    struct comma_list origins = comma_list_of(text, strlen(text));
    const char *origin;
    size_t count;

    *list = (struct origin_list){ .any = strcmp(text, "*") == 0 };
    if (list->any || text[0] == '\0')
        return true;
    while (comma_list_next(&origins, &origin, &count)) {
        if (list->count == ORIGIN_LIST_MAX || !is_origin(origin, count))
            return false;
        list->origins[list->count++] = (struct host_name){ origin, (uint32_t)count };
    }
    return true;
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

struct host_name origin_list_at(const struct origin_list *list, uint8_t index)
{
    if (index == ORIGIN_ANY)
        return (struct host_name){ "*", 1 };
    INVARIANT(index != ORIGIN_NONE && index <= list->count);
    return list->origins[index - 1];
}
