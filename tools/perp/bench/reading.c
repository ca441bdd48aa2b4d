#include "perp/bench/reading.h"

#include <stdio.h>
#include <stdlib.h>

enum { BUCKETS_MAX = 128 };

bool reading_fetch(struct reading *reading, struct client *admin)
{
    struct client_request request = { .method = "GET", .target = "/metrics" };
    struct client_answer answer;

    reading->text = NULL;
    if (client_call(admin, &request, &answer) != 0 || answer.status != 200)
        return false;
    reading->text = malloc(answer.body_count + 2);
    if (reading->text == NULL)
        return false;
    reading->text[0] = '\n'; /* every line begins after one */
    memcpy(reading->text + 1, answer.body, answer.body_count);
    reading->text[answer.body_count + 1] = '\0';
    return true;
}

void reading_free(struct reading *reading)
{
    free(reading->text);
    reading->text = NULL;
}

bool reading_value(const struct reading *reading, const char *series, double *value)
{
    char line[2 * READING_NAME_MAX];

    snprintf(line, sizeof line, "\n%.250s ", series);
    const char *at = reading->text == NULL ? NULL : strstr(reading->text, line);
    if (at == NULL)
        return false;
    *value = strtod(at + strlen(line), NULL);
    return true;
}

bool reading_next(const struct reading *reading, const char *name, uint32_t index,
                  char labels[READING_NAME_MAX])
{
    char line[READING_NAME_MAX];

    snprintf(line, sizeof line, "\n%.120s{", name);
    const char *at = reading->text;
    for (uint32_t i = 0; at != NULL && i <= index; i++)
        at = strstr(at + (i == 0 ? 0 : 1), line);
    if (at == NULL)
        return false;
    at += strlen(line);
    size_t count = strcspn(at, "}\n");
    if (count >= READING_NAME_MAX)
        return false;
    memcpy(labels, at, count);
    labels[count] = '\0';
    return true;
}

bool reading_label(const struct reading *reading, const char *name, const char *label, char *text,
                   size_t room)
{
    char begin[READING_NAME_MAX];

    snprintf(begin, sizeof begin, "\n%.120s{", name);
    const char *at = reading->text == NULL ? NULL : strstr(reading->text, begin);
    if (at == NULL)
        return false;
    const char *end = at + strcspn(at + 1, "\n");
    snprintf(begin, sizeof begin, "%.120s=\"", label);
    at = strstr(at, begin);
    if (at == NULL || at > end)
        return false;
    at += strlen(begin);
    size_t count = strcspn(at, "\"");
    if (count >= room)
        return false;
    memcpy(text, at, count);
    text[count] = '\0';
    return true;
}

/* The bounds and cumulative counts of a histogram, in order; gives how many. */
static uint32_t read_buckets(const struct reading *reading, const char *name, const char *labels,
                             double bounds[BUCKETS_MAX], double counts[BUCKETS_MAX])
{
    char line[3 * READING_NAME_MAX];
    uint32_t count = 0;

    snprintf(line, sizeof line, "\n%.120s_bucket{%.120s,le=\"", name, labels);
    const char *at = reading->text == NULL ? NULL : strstr(reading->text, line);
    for (; at != NULL && count < BUCKETS_MAX; at = strstr(at, line)) {
        char *end;
        at += strlen(line);
        bounds[count] = strncmp(at, "+Inf", 4) == 0 ? -1 : strtod(at, NULL);
        at = strchr(at, ' ');
        if (at == NULL)
            break;
        counts[count++] = strtod(at, &end);
        at = end;
    }
    return count;
}

double reading_quantile(const struct reading *before, const struct reading *after, const char *name,
                        const char *labels, double share, uint64_t *count)
{
    double bounds[BUCKETS_MAX], then[BUCKETS_MAX], now[BUCKETS_MAX];
    uint32_t buckets = read_buckets(after, name, labels, bounds, now);

    *count = 0;
    if (buckets == 0 || read_buckets(before, name, labels, bounds, then) != buckets)
        return -1;
    double total = now[buckets - 1] - then[buckets - 1];
    if (total <= 0)
        return -1;
    *count = (uint64_t)total;
    for (uint32_t i = 0; i < buckets; i++)
        if (now[i] - then[i] >= share * total)
            return bounds[i];
    return -1;
}
