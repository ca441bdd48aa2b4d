/* sim_names.h - the names of a simulated medium: those that are current, those that are durable,
 * and the changes between the two that no sync of a folder has made durable yet.
 *
 * Single thread. A power loss keeps of each folder a prefix of its changes; a file whose folder was
 * lost is lost with it. A name means a node, a number of the caller's; a folder's is -1.
 * Bound. SIM_NAMES_MAX names, SIM_NAMES_CHANGES_MAX changes (INVARIANT): this is for tests. */
#ifndef TESTS_SUPPORT_SIM_SIM_NAMES_H
#define TESTS_SUPPORT_SIM_SIM_NAMES_H

#include "store/disk.h"

enum { SIM_NAMES_MAX = 512, SIM_NAMES_CHANGES_MAX = 128, SIM_NAMES_FOLDER = -1 };

struct sim_name {
    char path[DISK_PATH_BYTES];
    int node;
};

struct sim_name_list {
    struct sim_name list[SIM_NAMES_MAX];
    int count;
};

/* `from`, if any, ends; `to`, if any, begins to mean `node`. */
struct sim_name_change {
    char folder[DISK_PATH_BYTES]; /* whose sync makes it durable */
    char from[DISK_PATH_BYTES];
    char to[DISK_PATH_BYTES];
    int node;
    bool is_removal; /* no `to` */
};

/* Copied as it stands. Zeros are a medium without even the data directory. */
struct sim_names {
    struct sim_name_list durable;
    struct sim_name_list current;
    struct sim_name_change changes[SIM_NAMES_CHANGES_MAX];
    int change_count;
};

/* The node that a path means, or -ENOENT. */
CC_MUST_USE int sim_names_find(const struct sim_names *names, const char *path);

/* Changes, unsynced: a name for a file (replacing), for a folder (0 also if it is there); another
 * name within a folder; the end of a name. -ENOENT without the parent or the name. */
CC_MUST_USE int sim_names_put(struct sim_names *names, const char *path, int node);
CC_MUST_USE int sim_names_make_folder(struct sim_names *names, const char *folder);
CC_MUST_USE int sim_names_rename(struct sim_names *names, const char *from, const char *to);
CC_MUST_USE int sim_names_unlink(struct sim_names *names, const char *path);

/* Makes all changes of a folder durable; -ENOENT without the folder. */
CC_MUST_USE int sim_names_sync(struct sim_names *names, const char *folder);

/* True if the path stands directly in the folder; the data directory stands in none. */
CC_MUST_USE bool sim_names_stands_in(const char *path, const char *folder);

/* Damage: the name is gone, also from the durable ones. */
void sim_names_drop(struct sim_names *names, const char *path);

/* Power loss: a prefix of each folder's changes, as *random decides (NULL: none of them), is kept;
 * what is durable is then current. */
void sim_names_crash(struct sim_names *names, uint64_t *random);

/* Sets used[node] for each node below `count` that a name means, now or after a power loss. */
void sim_names_mark(const struct sim_names *names, bool *used, int count);

#endif
