/* The engine's host of tests/engine, compiled for the node's tests too: a folder's support is its
 * own archive, and both need the same exchange. */
#include "../engine/host.c"
