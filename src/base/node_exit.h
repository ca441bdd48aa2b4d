/* node_exit.h - the exit codes of perpd (docs/operations.md says what the operator does about
 * each). */
#ifndef BASE_NODE_EXIT_H
#define BASE_NODE_EXIT_H

enum node_exit {
    NODE_EXIT_CLEAN = 0,
    NODE_EXIT_FAILED = 1,
    NODE_EXIT_CONFIGURATION = 2,
    NODE_EXIT_REFUSED = 3,
    NODE_EXIT_KERNEL = 4,
    NODE_EXIT_DEPOSED = 5, /* another node of the cluster leads */
};

#endif
