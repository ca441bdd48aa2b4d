/* tree.h - a JSON file as a tree, for tests that read vectors; one thread. */
#ifndef TESTS_SUPPORT_TREE_H
#define TESTS_SUPPORT_TREE_H

#include "base/json_scan.h"

struct tree {
    enum json_kind kind;
    const char *name;   /* of a member, with a closing zero; NULL in arrays */
    const char *text;   /* of strings (escapes resolved), numbers and words, with a closing zero */
    struct tree *first; /* members or items */
    struct tree *next;  /* sibling */
};

/* Reads `path` below the source tree (PERPD_SOURCE, else the working directory). A file whose
 * outermost value is an array is given as an object with the one member "items". Ends the test when
 * the file is missing or malformed. */
struct tree *tree_load(const char *path);
void tree_free(struct tree *tree);

/* The member of an object; ends the test when it is not there. tree_find gives NULL instead. */
struct tree *tree_get(const struct tree *object, const char *name);
struct tree *tree_find(const struct tree *object, const char *name);

/* The text of a string member. */
const char *tree_text(const struct tree *object, const char *name);

/* A member in hex as bytes; gives their number, ends the test when they are more than `capacity`.
 * */
size_t tree_hex(const struct tree *object, const char *name, uint8_t *bytes, size_t capacity);

/* A member that is an integer, or true (1) and false (0). */
int64_t tree_int(const struct tree *object, const char *name);

#endif
