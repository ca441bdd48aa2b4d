/* no_console.c - the table of the web console's files, empty: linked into a perpd in front of the
 * one that has them. */
#include "net/http/asset_table.h"

const struct asset asset_table[1] = { 0 };
const uint32_t asset_count = 0;
