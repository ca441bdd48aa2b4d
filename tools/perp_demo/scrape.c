#include "perp_demo/scrape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LINE_MAX_BYTES = 512 };

/* The value of a label in `{a="b",c="d"}`, copied; false when it is not there. */
static bool label(const char *line, const char *name, char *value, size_t capacity)
{
    char wanted[SCRAPE_NAME_MAX];
    snprintf(wanted, sizeof wanted, "%s=\"", name);
    const char *at = strpbrk(line, "{ ");
    if (at == NULL || *at != '{')
        return false;
    for (at = strstr(at, wanted); at != NULL; at = strstr(at + 1, wanted)) {
        if (at[-1] != '{' && at[-1] != ',')
            continue;
        at += strlen(wanted);
        size_t count = strcspn(at, "\"");
        if (count >= capacity)
            return false;
        memcpy(value, at, count);
        value[count] = '\0';
        return true;
    }
    return false;
}

static struct scrape_stage *stage_of(struct scrape *scrape, const char *name)
{
    for (uint32_t i = 0; i < scrape->stage_count; i++) {
        if (strcmp(scrape->stages[i].name, name) == 0)
            return &scrape->stages[i];
    }
    if (scrape->stage_count == SCRAPE_STAGES_MAX)
        return NULL;
    struct scrape_stage *stage = &scrape->stages[scrape->stage_count++];
    *stage = (struct scrape_stage){ .quantile_ns = { -1, -1 } };
    snprintf(stage->name, sizeof stage->name, "%s", name);
    return stage;
}

/* Metrics in seconds say so in their name; everything else here counts ns. */
static double to_ns(const char *line, double value)
{
    const char *end = strpbrk(line, "{ ");
    const char *seconds = strstr(line, "_seconds");
    return seconds != NULL && end != NULL && seconds < end ? value * 1e9 : value;
}

static void parse_stage(struct scrape *scrape, const char *line, double value)
{
    char name[SCRAPE_NAME_MAX], bound[SCRAPE_NAME_MAX];
    if (!label(line, "stage", name, sizeof name))
        return;
    struct scrape_stage *stage = stage_of(scrape, name);
    if (stage == NULL)
        return;
    if (label(line, "le", bound, sizeof bound) && stage->bucket_count < SCRAPE_BUCKETS_MAX) {
        bool infinite = strcmp(bound, "+Inf") == 0;
        stage->bound_ns[stage->bucket_count] =
            infinite ? INFINITY : to_ns(line, strtod(bound, NULL));
        stage->below[stage->bucket_count++] = (uint64_t)value;
    } else if (label(line, "quantile", bound, sizeof bound)) {
        double quantile = strtod(bound, NULL);
        if (fabs(quantile - 0.5) < 1e-9)
            stage->quantile_ns[0] = to_ns(line, value);
        else if (fabs(quantile - 0.99) < 1e-9)
            stage->quantile_ns[1] = to_ns(line, value);
    }
}

static bool counter(const char *line, const char *name, double value, uint64_t *into)
{
    size_t count = strlen(name);
    if (strncmp(line, name, count) != 0 || (line[count] != ' ' && line[count] != '{'))
        return false;
    *into = (uint64_t)value;
    return true;
}

/* A line of perpd_table_used: the accounts of one class. */
static bool parse_accounts(struct scrape *scrape, const char *line, double value)
{
    char table[SCRAPE_NAME_MAX];
    uint64_t rows;
    if (!counter(line, "perpd_table_used", value, &rows))
        return false;
    if (label(line, "table", table, sizeof table) && strcmp(table, "accounts") == 0)
        scrape->accounts += rows;
    return true;
}

static void parse_line(struct scrape *scrape, const char *line)
{
    const char *space = strrchr(line, ' ');
    if (line[0] == '#' || space == NULL)
        return;
    double value = strtod(space + 1, NULL);
    if (counter(line, "perpd_journal_record_bytes_total", value, &scrape->journal_record_bytes) ||
        counter(line, "perpd_journal_written_bytes_total", value, &scrape->journal_written_bytes) ||
        counter(line, "perpd_journal_records_total", value, &scrape->journal_records))
        scrape->has_journal = true;
    else if (!parse_accounts(scrape, line, value))
        parse_stage(scrape, line, value);
}

void scrape_read(struct scrape *scrape, const char *text, size_t count)
{
    *scrape = (struct scrape){ 0 };
    for (size_t at = 0; at < count;) {
        char line[LINE_MAX_BYTES];
        const char *end = memchr(text + at, '\n', count - at);
        size_t length = end != NULL ? (size_t)(end - text) - at : count - at;
        if (length < sizeof line) {
            memcpy(line, text + at, length);
            line[length] = '\0';
            parse_line(scrape, line);
        }
        at += length + 1;
    }
}

const struct scrape_stage *scrape_find(const struct scrape *scrape, const char *name)
{
    for (uint32_t i = 0; i < scrape->stage_count; i++) {
        if (strcmp(scrape->stages[i].name, name) == 0)
            return &scrape->stages[i];
    }
    return NULL;
}

double scrape_quantile(const struct scrape_stage *stage, double quantile)
{
    return stage->quantile_ns[quantile > 0.75];
}

/* How many values of the bucket and below came between the readings. */
static uint64_t came(const struct scrape_stage *before, const struct scrape_stage *now,
                     uint32_t bucket)
{
    uint32_t last = now->bucket_count - 1;
    bool is_same = before != NULL && before->bucket_count == now->bucket_count &&
                   before->below[last] <= now->below[last];

    return now->below[bucket] - (is_same ? before->below[bucket] : 0);
}

double scrape_quantile_between(const struct scrape_stage *before, const struct scrape_stage *now,
                               double quantile)
{
    uint64_t all = now->bucket_count == 0 ? 0 : came(before, now, now->bucket_count - 1);
    double wanted = quantile * (double)all, low_ns = 0;
    uint64_t below = 0;

    for (uint32_t i = 0; all != 0 && i < now->bucket_count; i++) {
        uint64_t count = came(before, now, i);
        if ((double)count >= wanted && count > below)
            return isinf(now->bound_ns[i])
                       ? low_ns
                       : low_ns + (now->bound_ns[i] - low_ns) * (wanted - (double)below) /
                                      (double)(count - below);
        below = count;
        low_ns = now->bound_ns[i];
    }
    return -1;
}
