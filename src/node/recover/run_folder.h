/* run_folder.h - the folder of what outlives the process but not the machine: the page of
 * poison_page.h (roles.md, Poison command).
 *
 * Threads. Start and end of the process. */
#ifndef NODE_RECOVER_RUN_FOLDER_H
#define NODE_RECOVER_RUN_FOLDER_H

#include "base/hash.h"

enum { RUN_FOLDER_BYTES = 4096 };

/* Where it may lie, the first that is there. A text that is NULL or empty names no folder. */
struct run_places {
    const char *option;  /* node.run_dir; made if it is missing */
    const char *manager; /* $RUNTIME_DIRECTORY: the first folder of that list */
    const char *system;  /* /run/perpd: taken if it is this user's */
    const char *user; /* $XDG_RUNTIME_DIR: a folder `perpd` in it, taken if both are this user's */
    const char *memory; /* /dev/shm, in which everybody may make files */
};

struct run_folder {
    char path[RUN_FOLDER_BYTES];
    bool is_made; /* run_folder_close removes it */
};

/* Chooses the folder and makes it where it is missing, mode 0700. In places->memory its name is the
 * hash, under the secret, of the machine's start: nobody else can have made it first, and the next
 * process of the exchange finds it.
 *
 * 0, or -errno with the path that is to blame: -EPERM if the folder is another user's or others may
 * write to it, -ENOTDIR if it is no folder or a link, -ENAMETOOLONG, what mkdir says. */
CC_MUST_USE int run_folder_open(struct run_folder *folder, const struct run_places *places,
                                const uint8_t secret[HASH_KEY_BYTES]);

/* Removes a folder of places->memory if nothing is in it. Any state after memset 0 too. */
void run_folder_close(struct run_folder *folder);

#endif
