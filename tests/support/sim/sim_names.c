#include "support/sim/sim_names.h"

#include <errno.h>

#include "support/sim/sim_image.h"

static int list_index(const struct sim_name_list *names, const char *path)
{
    for (int i = 0; i < names->count; i++) {
        if (strcmp(names->list[i].path, path) == 0)
            return i;
    }
    return -ENOENT;
}

static void list_remove(struct sim_name_list *names, const char *path)
{
    int index = list_index(names, path);

    if (index >= 0)
        names->list[index] = names->list[--names->count];
}

static void list_put(struct sim_name_list *names, const char *path, int node)
{
    int index = list_index(names, path);

    if (index < 0) {
        INVARIANT(names->count < SIM_NAMES_MAX);
        index = names->count++;
        memcpy(names->list[index].path, path, strlen(path) + 1);
    }
    names->list[index].node = node;
}

static void parent_of(const char *path, char out[DISK_PATH_BYTES])
{
    const char *slash = strrchr(path, '/');
    size_t parent = slash ? (size_t)(slash - path) : 0;

    memcpy(out, path, parent);
    out[parent] = '\0';
}

static void change_apply(struct sim_name_list *names, const struct sim_name_change *change)
{
    if (change->from[0] != '\0')
        list_remove(names, change->from);
    if (!change->is_removal)
        list_put(names, change->to, change->node);
}

static void change_note(struct sim_names *names, const char *from, const char *to, int node)
{
    struct sim_name_change *change;

    INVARIANT(names->change_count < SIM_NAMES_CHANGES_MAX);
    INVARIANT(strlen(from) < DISK_PATH_BYTES && (!to || strlen(to) < DISK_PATH_BYTES));
    change = &names->changes[names->change_count++];
    *change = (struct sim_name_change){ .node = node, .is_removal = !to };
    memcpy(change->from, from, strlen(from) + 1);
    if (to)
        memcpy(change->to, to, strlen(to) + 1);
    parent_of(to ? to : from, change->folder);
    change_apply(&names->current, change);
}

/* Makes the first `keep` changes of a folder durable and forgets all of them. */
static void folder_settle(struct sim_names *names, const char *folder, int keep)
{
    int left = 0;

    for (int i = 0; i < names->change_count; i++) {
        struct sim_name_change *change = &names->changes[i];

        if (strcmp(change->folder, folder) != 0) {
            names->changes[left++] = *change;
        } else if (keep > 0) {
            keep--;
            change_apply(&names->durable, change);
        }
    }
    names->change_count = left;
}

static bool has_parent(const struct sim_names *names, const char *path)
{
    char folder[DISK_PATH_BYTES];

    parent_of(path, folder);
    return list_index(&names->current, folder) >= 0;
}

int sim_names_find(const struct sim_names *names, const char *path)
{
    int index = list_index(&names->current, path);

    return index < 0 ? index : names->current.list[index].node;
}

int sim_names_put(struct sim_names *names, const char *path, int node)
{
    if (!has_parent(names, path))
        return -ENOENT;
    change_note(names, "", path, node);
    return 0;
}

int sim_names_make_folder(struct sim_names *names, const char *folder)
{
    if (list_index(&names->current, folder) >= 0)
        return 0;
    if (folder[0] != '\0' && !has_parent(names, folder))
        return -ENOENT;
    change_note(names, "", folder, SIM_NAMES_FOLDER);
    return 0;
}

int sim_names_rename(struct sim_names *names, const char *from, const char *to)
{
    int node = sim_names_find(names, from);

    if (node < 0)
        return -ENOENT;
    change_note(names, from, to, node);
    return 0;
}

int sim_names_unlink(struct sim_names *names, const char *path)
{
    int node = sim_names_find(names, path);

    if (node < 0)
        return -ENOENT;
    change_note(names, path, NULL, node);
    return 0;
}

int sim_names_sync(struct sim_names *names, const char *folder)
{
    if (list_index(&names->current, folder) < 0)
        return -ENOENT;
    folder_settle(names, folder, SIM_NAMES_CHANGES_MAX);
    return 0;
}

bool sim_names_stands_in(const char *path, const char *folder)
{
    char parent[DISK_PATH_BYTES];

    parent_of(path, parent);
    return path[0] != '\0' && strcmp(parent, folder) == 0;
}

void sim_names_drop(struct sim_names *names, const char *path)
{
    list_remove(&names->current, path);
    list_remove(&names->durable, path);
}

static void orphans_remove(struct sim_name_list *names)
{
    bool again = true;

    while (again) {
        again = false;
        for (int i = 0; i < names->count; i++) {
            char parent[DISK_PATH_BYTES];

            parent_of(names->list[i].path, parent);
            if (names->list[i].path[0] != '\0' && list_index(names, parent) < 0) {
                list_remove(names, names->list[i].path);
                again = true;
                break;
            }
        }
    }
}

void sim_names_crash(struct sim_names *names, uint64_t *random)
{
    while (random && names->change_count > 0) {
        char folder[DISK_PATH_BYTES];
        int of_folder = 0;

        memcpy(folder, names->changes[0].folder, sizeof folder);
        for (int i = 0; i < names->change_count; i++)
            of_folder += strcmp(names->changes[i].folder, folder) == 0;
        folder_settle(names, folder, (int)(sim_image_random(random) % (unsigned)(of_folder + 1)));
    }
    names->change_count = 0;
    orphans_remove(&names->durable);
    names->current = names->durable;
}

static void list_mark(const struct sim_name_list *names, bool *used, int count)
{
    for (int i = 0; i < names->count; i++) {
        if (names->list[i].node >= 0 && names->list[i].node < count)
            used[names->list[i].node] = true;
    }
}

void sim_names_mark(const struct sim_names *names, bool *used, int count)
{
    list_mark(&names->current, used, count);
    list_mark(&names->durable, used, count);
    for (int i = 0; i < names->change_count; i++) {
        if (names->changes[i].node >= 0 && names->changes[i].node < count)
            used[names->changes[i].node] = true;
    }
}
