#include "support/tree.h"

#include "base/hex.h"
#include "check.h"

static char *read_file(const char *path, size_t *count)
{
    const char *root = getenv("PERPD_SOURCE");
    char full[4096];
    snprintf(full, sizeof full, "%s/%s", root != NULL ? root : ".", path);
    FILE *file = fopen(full, "rb");
    if (file == NULL) {
        fprintf(stderr, "%s is missing (PERPD_SOURCE names the source tree)\n", full);
        exit(1);
    }
    CHECK(fseek(file, 0, SEEK_END) == 0);
    long size = ftell(file);
    CHECK(size > 0 && fseek(file, 0, SEEK_SET) == 0);
    static const char open[] = "{\"items\":";
    char *text = malloc((size_t)size + sizeof open + 1);
    CHECK(text != NULL);
    size_t before = sizeof open - 1;
    CHECK(fread(text + before, 1, (size_t)size, file) == (size_t)size);
    fclose(file);
    *count = (size_t)size;
    if (text[before] == '[') {
        memcpy(text, open, before);
        text[before + (size_t)size] = '}';
        *count += before + 1;
    } else {
        memmove(text, text + before, (size_t)size);
    }
    return text;
}

static char *copy_span(const struct json_span *span)
{
    char *text = malloc(span->count + 1u);
    CHECK(text != NULL);
    ptrdiff_t count = json_scan_unescape(span, text, span->count);
    CHECK(count >= 0);
    text[count] = '\0';
    return text;
}

static struct tree *read_node(struct json_scan *scan, const struct json_token *token)
{
    struct tree *node = calloc(1, sizeof *node);
    CHECK(node != NULL);
    node->kind = token->kind;
    node->name = token->named ? copy_span(&token->name) : NULL;
    if (token->kind != JSON_OBJECT && token->kind != JSON_ARRAY) {
        node->text = copy_span(&token->value);
        return node;
    }
    struct tree **end = &node->first;
    struct json_token inner;
    for (;;) {
        CHECK(json_scan_next(scan, &inner));
        if (inner.kind == JSON_OBJECT_END || inner.kind == JSON_ARRAY_END)
            return node;
        *end = read_node(scan, &inner);
        end = &(*end)->next;
    }
}

struct tree *tree_load(const char *path)
{
    size_t count;
    char *text = read_file(path, &count);
    static struct json_scan scan;
    struct json_token token;
    json_scan_begin(&scan, text, count);
    CHECK(json_scan_next(&scan, &token));
    struct tree *tree = read_node(&scan, &token);
    CHECK(!json_scan_next(&scan, &token));
    CHECK(scan.error == JSON_OK);
    free(text);
    return tree;
}

void tree_free(struct tree *tree)
{
    while (tree != NULL) {
        struct tree *next = tree->next;
        tree_free(tree->first);
        free((char *)(uintptr_t)tree->name);
        free((char *)(uintptr_t)tree->text);
        free(tree);
        tree = next;
    }
}

struct tree *tree_find(const struct tree *object, const char *name)
{
    for (struct tree *member = object->first; member != NULL; member = member->next)
        if (member->name != NULL && strcmp(member->name, name) == 0)
            return member;
    return NULL;
}

struct tree *tree_get(const struct tree *object, const char *name)
{
    struct tree *member = tree_find(object, name);
    if (member == NULL) {
        fprintf(stderr, "a vector has no member %s\n", name);
        exit(1);
    }
    return member;
}

const char *tree_text(const struct tree *object, const char *name)
{
    struct tree *member = tree_get(object, name);
    CHECK(member->kind == JSON_STRING);
    return member->text;
}

size_t tree_hex(const struct tree *object, const char *name, uint8_t *bytes, size_t capacity)
{
    const char *text = tree_text(object, name);
    size_t count = strlen(text) / 2;
    CHECK(count <= capacity);
    CHECK(hex_decode(bytes, count, text, strlen(text)));
    return count;
}

int64_t tree_int(const struct tree *object, const char *name)
{
    const struct tree *member = tree_get(object, name);
    if (member->kind == JSON_TRUE || member->kind == JSON_FALSE)
        return member->kind == JSON_TRUE;
    CHECK(member->kind == JSON_NUMBER);
    return strtoll(member->text, NULL, 10);
}
