/* history_folder.h - the file of a history that is not open, by its name, data.mdb.
 *
 * Wait.   Blocks as files do.
 * Errors. 0 or -errno; nothing is logged. */
#ifndef STORE_HISTORY_FOLDER_H
#define STORE_HISTORY_FOLDER_H

#include "base/compiler.h"

enum { HISTORY_PATH_BYTES = 4096 };

/* The path of a file of the folder; false if it is too long. */
CC_MUST_USE bool history_folder_path(char path[HISTORY_PATH_BYTES], const char *folder,
                                     const char *name);

/* Puts the file of folder `from`, which is not open, in the place of the file of `folder`, or makes
 * that folder, and removes `from`. */
CC_MUST_USE int history_folder_replace(const char *folder, const char *from);

/* Removes the file of `folder`, which is not open, a lock.mdb of LMDB, and the folder. 0 if there
 * is none. */
CC_MUST_USE int history_folder_remove(const char *folder);

/* Renames the file in `folder`, replacing what was set aside before. */
CC_MUST_USE int history_folder_set_aside(const char *folder);

#endif
