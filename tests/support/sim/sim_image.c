#include "support/sim/sim_image.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "support/sim/sim_names.h"

enum { NODES_MAX = 1024 };

/* One block as one write left it. */
struct version {
    struct version *next; /* newer */
    uint64_t write;
    uint64_t block; /* of the file */
    uint32_t place; /* of the block in its write */
    bool visible;
    bool is_failed; /* its write ended in an error: it may be on the medium, as it was then */
    uint8_t bytes[];
};

struct node {
    uint8_t *durable;
    uint8_t *current;
    uint64_t durable_bytes;
    uint64_t current_bytes;
    uint64_t capacity;
    struct version *oldest;
    struct version **newest; /* where the next version is hung */
    bool is_cut;             /* emptied since the last sync: a crash may leave it so */
    bool used;
};

struct sim_image {
    uint32_t block_bytes;
    struct node nodes[NODES_MAX];
    struct sim_names names;
};

uint64_t sim_image_random(uint64_t *state)
{
    uint64_t word = *state += 0x9E3779B97F4A7C15U;

    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9U;
    word = (word ^ word >> 27) * 0x94D049BB133111EBU;
    return word ^ word >> 31;
}

/* ---- names ---------------------------------------------------------------------------------- */

int sim_image_find(const struct sim_image *image, const char *path)
{
    return sim_names_find(&image->names, path);
}

int sim_image_make(struct sim_image *image, const char *path)
{
    for (int i = 0; i < NODES_MAX; i++) {
        struct node *node = &image->nodes[i];
        int error;

        if (node->used)
            continue;
        error = sim_names_put(&image->names, path, i);
        if (error < 0)
            return error;
        *node = (struct node){ .used = true };
        node->newest = &node->oldest;
        return i;
    }
    return -ENFILE;
}

int sim_image_rename(struct sim_image *image, const char *from, const char *to)
{
    return sim_names_rename(&image->names, from, to);
}

int sim_image_unlink(struct sim_image *image, const char *path)
{
    return sim_names_unlink(&image->names, path);
}

int sim_image_make_folder(struct sim_image *image, const char *folder)
{
    return sim_names_make_folder(&image->names, folder);
}

int sim_image_sync_folder(struct sim_image *image, const char *folder)
{
    return sim_names_sync(&image->names, folder);
}

int sim_image_list(const struct sim_image *image, const char *folder, disk_visit *visit,
                   void *context)
{
    const struct sim_name_list *names = &image->names.current;

    if (sim_names_find(&image->names, folder) == -ENOENT)
        return -ENOENT;
    for (int i = 0; i < names->count; i++) {
        const struct sim_name *name = &names->list[i];
        const char *slash = strrchr(name->path, '/');

        if (name->node >= 0 && sim_names_stands_in(name->path, folder))
            visit(context, slash ? slash + 1 : name->path, image->nodes[name->node].current_bytes);
    }
    return 0;
}

void sim_image_remove(struct sim_image *image, const char *path)
{
    sim_names_drop(&image->names, path);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

static void node_reserve(struct node *node, uint64_t bytes)
{
    uint64_t capacity = node->capacity ? node->capacity : 4096;

    if (bytes <= node->capacity)
        return;
    while (capacity < bytes)
        capacity *= 2;
    node->durable = realloc(node->durable, capacity);
    node->current = realloc(node->current, capacity);
    INVARIANT(node->durable && node->current);
    memset(node->durable + node->capacity, 0, capacity - node->capacity);
    memset(node->current + node->capacity, 0, capacity - node->capacity);
    node->capacity = capacity;
}

static void version_drop(struct node *node, struct version **at)
{
    struct version *version = *at;

    *at = version->next;
    if (node->newest == &version->next)
        node->newest = at;
    free(version);
}

static void versions_drop(struct node *node)
{
    while (node->oldest)
        version_drop(node, &node->oldest);
}

static void node_free(struct node *node)
{
    versions_drop(node);
    free(node->durable);
    free(node->current);
    *node = (struct node){ .used = false };
}

void sim_image_collect(struct sim_image *image, const int *held, int held_count)
{
    bool used[NODES_MAX] = { false };

    sim_names_mark(&image->names, used, NODES_MAX);
    for (int i = 0; i < held_count; i++) {
        if (held[i] >= 0)
            used[held[i]] = true;
    }
    for (int i = 0; i < NODES_MAX; i++) {
        if (image->nodes[i].used && !used[i])
            node_free(&image->nodes[i]);
    }
}

static struct node *node_at(const struct sim_image *image, int node)
{
    INVARIANT(node >= 0 && node < NODES_MAX && image->nodes[node].used);
    return (struct node *)&image->nodes[node];
}

uint64_t sim_image_size(const struct sim_image *image, int node)
{
    return node_at(image, node)->current_bytes;
}

void sim_image_resize(struct sim_image *image, int index, uint64_t bytes)
{
    struct node *node = node_at(image, index);

    node_reserve(node, bytes);
    if (bytes > node->current_bytes)
        node->current_bytes = bytes;
}

void sim_image_cut(struct sim_image *image, int index)
{
    struct node *node = node_at(image, index);

    if (node->capacity > 0)
        memset(node->current, 0, node->capacity);
    node->current_bytes = 0;
    node->is_cut = true;
}

size_t sim_image_read(const struct sim_image *image, int index, uint64_t offset, void *out,
                      size_t count)
{
    const struct node *node = node_at(image, index);

    if (offset >= node->current_bytes)
        return 0;
    if (count > node->current_bytes - offset)
        count = node->current_bytes - offset;
    memcpy(out, node->current + offset, count);
    return count;
}

void sim_image_write(struct sim_image *image, int index, uint64_t offset, const void *bytes,
                     size_t count, uint64_t write, bool visible)
{
    struct node *node = node_at(image, index);
    const uint32_t block_bytes = image->block_bytes;
    const uint64_t first = offset / block_bytes;
    const uint64_t end = (offset + count + block_bytes - 1) / block_bytes;

    node_reserve(node, end * block_bytes);
    for (uint64_t block = first; block < end; block++) {
        struct version *version = malloc(sizeof *version + block_bytes);
        uint64_t at = block * block_bytes;
        uint64_t from = offset > at ? offset : at;
        uint64_t to = offset + count < at + block_bytes ? offset + count : at + block_bytes;

        INVARIANT(version);
        *version = (struct version){
            .write = write, .block = block, .place = (uint32_t)(block - first), .visible = visible
        };
        memcpy(version->bytes, node->current + at, block_bytes);
        memcpy(version->bytes + (from - at), (const uint8_t *)bytes + (from - offset), to - from);
        if (visible)
            memcpy(node->current + at, version->bytes, block_bytes);
        *node->newest = version;
        node->newest = &version->next;
    }
    if (visible && offset + count > node->current_bytes)
        node->current_bytes = offset + count;
}

/* Blocks are durable: what failed to be written to them before cannot come any more. */
static void failed_drop(struct node *node, uint64_t first, uint64_t last)
{
    struct version **at = &node->oldest;

    while (*at) {
        if ((*at)->is_failed && (*at)->block >= first && (*at)->block <= last)
            version_drop(node, at);
        else
            at = &(*at)->next;
    }
}

void sim_image_settle(struct sim_image *image, int index, uint64_t write, uint64_t bytes,
                      bool durable)
{
    struct node *node = node_at(image, index);
    const uint32_t block_bytes = image->block_bytes;
    struct version **at = &node->oldest;
    uint64_t first = UINT64_MAX, last = 0;

    while (*at) {
        struct version *version = *at;
        uint64_t offset = version->block * block_bytes;

        if (version->write != write || (uint64_t)version->place * block_bytes >= bytes) {
            at = &version->next;
            continue;
        }
        version->visible = true;
        version->is_failed = false;
        memcpy(node->current + offset, version->bytes, block_bytes);
        if (node->current_bytes < offset + block_bytes)
            node->current_bytes = offset + block_bytes;
        if (!durable) {
            at = &version->next;
            continue;
        }
        first = version->block < first ? version->block : first;
        last = version->block;
        memcpy(node->durable + offset, version->bytes, block_bytes);
        if (node->durable_bytes < offset + block_bytes)
            node->durable_bytes = offset + block_bytes;
        version_drop(node, at);
    }
    if (first <= last)
        failed_drop(node, first, last);
}

void sim_image_forget(struct sim_image *image, int index, uint64_t write)
{
    struct node *node = node_at(image, index);
    struct version **at = &node->oldest;

    while (*at) {
        if ((*at)->write == write && !(*at)->visible)
            version_drop(node, at);
        else
            at = &(*at)->next;
    }
}

void sim_image_fail(struct sim_image *image, int index, uint64_t write)
{
    for (struct version *at = node_at(image, index)->oldest; at; at = at->next) {
        if (at->write == write && !at->visible)
            at->is_failed = true;
    }
}

void sim_image_end_failed(struct sim_image *image)
{
    for (int index = 0; index < NODES_MAX; index++) {
        struct version **at = &image->nodes[index].oldest;

        if (!image->nodes[index].used)
            continue;
        while (*at) {
            if ((*at)->is_failed)
                version_drop(&image->nodes[index], at);
            else
                at = &(*at)->next;
        }
    }
}

/* Is there a newer version of its block that is readable. */
static bool is_overwritten(const struct version *version)
{
    for (const struct version *at = version->next; at; at = at->next) {
        if (at->block == version->block && at->visible)
            return true;
    }
    return false;
}

void sim_image_sync(struct sim_image *image, int index)
{
    struct node *node = node_at(image, index);
    struct version **at = &node->oldest;

    while (*at) {
        if ((*at)->is_failed && is_overwritten(*at))
            version_drop(node, at);
        else
            at = &(*at)->next;
    }
    at = &node->oldest;
    while (*at) {
        if ((*at)->visible)
            version_drop(node, at);
        else
            at = &(*at)->next;
    }
    if (node->capacity > 0)
        memcpy(node->durable, node->current, node->capacity);
    node->durable_bytes = node->current_bytes;
    node->is_cut = false;
}

void sim_image_poke(struct sim_image *image, int index, uint64_t offset, const void *bytes,
                    size_t count)
{
    struct node *node = node_at(image, index);

    INVARIANT(offset + count <= node->current_bytes);
    memcpy(node->current + offset, bytes, count);
    memcpy(node->durable + offset, bytes, count);
}

uint64_t sim_image_total(const struct sim_image *image)
{
    uint64_t total = 0;

    for (int i = 0; i < image->names.current.count; i++) {
        if (image->names.current.list[i].node >= 0)
            total += image->nodes[image->names.current.list[i].node].current_bytes;
    }
    return total;
}

/* The names' digests are summed: their order in memory says nothing about the disk. */
uint64_t sim_image_digest(const struct sim_image *image)
{
    uint64_t digest = 0;

    for (int i = 0; i < image->names.current.count; i++) {
        const struct sim_name *name = &image->names.current.list[i];
        struct hash_state state;
        uint8_t hash[HASH_BYTES];

        hash_begin(&state);
        hash_add(&state, name->path, strlen(name->path) + 1);
        if (name->node >= 0)
            hash_add(&state, image->nodes[name->node].current,
                     image->nodes[name->node].current_bytes);
        hash_end(&state, hash);
        digest += cc_load64(hash);
    }
    return digest;
}

/* ---- crash ---------------------------------------------------------------------------------- */

/* Versions of one block are met oldest first, and among k of them and the durable bytes each is
 * kept with the chance 1/(k+1): the j-th replaces what was kept with the chance 1/(j+1). */
static void node_crash(struct sim_image *image, struct node *node, uint64_t *random)
{
    const uint32_t block_bytes = image->block_bytes;

    if (node->is_cut && node->capacity > 0 && sim_image_random(random) % 2 == 0) {
        memset(node->durable, 0, node->capacity);
        node->durable_bytes = 0;
    }
    for (struct version *version = node->oldest; version; version = version->next) {
        uint64_t rank = 1;

        for (struct version *older = node->oldest; older != version; older = older->next)
            rank += older->block == version->block;
        if (sim_image_random(random) % (rank + 1) != 0)
            continue;
        memcpy(node->durable + version->block * block_bytes, version->bytes, block_bytes);
        if (node->durable_bytes < (version->block + 1) * block_bytes)
            node->durable_bytes = (version->block + 1) * block_bytes;
    }
}

static bool mask_keeps(const struct version *version, const uint64_t *writes, const uint64_t *masks,
                       int count)
{
    for (int i = 0; i < count; i++) {
        if (writes[i] == version->write)
            return version->place < 64 && (masks[i] >> version->place & 1U) != 0;
    }
    return false;
}

/* What is durable is now all there is; nodes that no name means are free. */
static void crash_end(struct sim_image *image, uint64_t *random)
{
    sim_names_crash(&image->names, random);
    sim_image_collect(image, NULL, 0);
    for (int i = 0; i < NODES_MAX; i++) {
        struct node *node = &image->nodes[i];

        if (!node->used)
            continue;
        versions_drop(node);
        node->is_cut = false;
        if (node->capacity > 0)
            memcpy(node->current, node->durable, node->capacity);
        node->current_bytes = node->durable_bytes;
    }
}

void sim_image_crash(struct sim_image *image, uint64_t seed)
{
    uint64_t random = seed;

    for (int i = 0; i < NODES_MAX; i++) {
        if (image->nodes[i].used)
            node_crash(image, &image->nodes[i], &random);
    }
    crash_end(image, &random);
}

void sim_image_crash_exact(struct sim_image *image, const uint64_t *writes, const uint64_t *masks,
                           int count)
{
    for (int i = 0; i < NODES_MAX; i++) {
        struct node *node = &image->nodes[i];

        for (struct version *version = node->oldest; version; version = version->next) {
            if (mask_keeps(version, writes, masks, count))
                memcpy(node->durable + version->block * image->block_bytes, version->bytes,
                       image->block_bytes);
        }
    }
    crash_end(image, NULL);
}

/* ---- life ----------------------------------------------------------------------------------- */

struct sim_image *sim_image_create(uint32_t block_bytes)
{
    struct sim_image *image = calloc(1, sizeof *image);

    INVARIANT(image);
    image->block_bytes = block_bytes;
    return image;
}

void sim_image_destroy(struct sim_image *image)
{
    for (int i = 0; i < NODES_MAX; i++)
        node_free(&image->nodes[i]);
    free(image);
}

static void node_copy(struct node *to, const struct node *from, uint32_t block_bytes)
{
    to->newest = &to->oldest;
    to->oldest = NULL;
    to->durable = NULL;
    to->current = NULL;
    to->capacity = 0;
    node_reserve(to, from->capacity);
    if (from->capacity > 0) {
        memcpy(to->durable, from->durable, from->capacity);
        memcpy(to->current, from->current, from->capacity);
    }
    for (const struct version *version = from->oldest; version; version = version->next) {
        struct version *twin = malloc(sizeof *twin + block_bytes);

        INVARIANT(twin);
        memcpy(twin, version, sizeof *twin + block_bytes);
        twin->next = NULL;
        *to->newest = twin;
        to->newest = &twin->next;
    }
}

struct sim_image *sim_image_copy(const struct sim_image *image)
{
    struct sim_image *copy = sim_image_create(image->block_bytes);

    memcpy(copy, image, sizeof *copy);
    for (int i = 0; i < NODES_MAX; i++) {
        if (image->nodes[i].used)
            node_copy(&copy->nodes[i], &image->nodes[i], image->block_bytes);
    }
    return copy;
}
