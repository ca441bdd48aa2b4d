/* API keys for the node's tests, as exchange_host.c. */
#include "../engine/keys.c"
