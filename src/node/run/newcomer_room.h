/* newcomer_room.h - whether the sizes of the tables leave newcomers room (wire.md W8, Slots).
 *
 * Owner. The main thread, before the network threads start. */
#ifndef NODE_RUN_NEWCOMER_ROOM_H
#define NODE_RUN_NEWCOMER_ROOM_H

#include "base/config.h"

/* How many accounts unfunded ones have together. */
uint64_t newcomer_room_accounts(const struct config *options);

/* Warns in the log of each table that unfunded accounts can use up before their share of the
 * accounts is used up: newcomers are refused then although there are slots. */
void newcomer_room_check(const struct config *options);

#endif
