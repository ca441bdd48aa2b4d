/* info.h - reads that the net thread answers itself: time, exchange, typed-data types (json.md J6).
 * Net thread. */
#ifndef NET_INFO_H
#define NET_INFO_H

#include "net/gate.h"

void info_time(struct gate *gate, struct writer *writer);

/* What this binary has: options, limits, request types with a handler, statuses, reasons. */
void info_exchange(struct gate *gate, struct writer *writer);

/* The types of a signable request type, ready for eth_signTypedData_v4. */
void info_eip712(struct gate *gate, uint16_t code, struct writer *writer);

#endif
