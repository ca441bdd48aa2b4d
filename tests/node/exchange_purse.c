/* Cash commands for the node's tests, as exchange_host.c. */
#include "../engine/purse.c"
