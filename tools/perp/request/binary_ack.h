/* binary_ack.h - the 64-byte acknowledgement of a signed write (wire.md W5).
 *
 * Units. Sizes raw, times ns.
 * Owner. Pure functions of the bytes; any thread. */
#ifndef PERP_REQUEST_BINARY_ACK_H
#define PERP_REQUEST_BINARY_ACK_H

#include "base/uuid.h"
#include "perp/request/instrument.h"

enum { BINARY_ACK_BYTES = 64, BINARY_ACK_VERSION = 1, BINARY_ACK_TEXT_MAX = 768 };

/* order_status of an acknowledgement without an order. */
enum { BINARY_ACK_NO_ORDER = 255 };

struct binary_ack {
    uint16_t status;      /* enum status */
    uint8_t order_status; /* W3's number, or BINARY_ACK_NO_ORDER */
    uint8_t version;
    uint64_t processed_at_ns;
    uint64_t sequence; /* 0: refused before it was sequenced */
    struct uuid request_id;
    uint64_t remaining;
    uint64_t quantity_ahead;
    uint32_t verify_ns, match_ns;
};

/* False when the bytes are no acknowledgement of this version. */
CC_MUST_USE bool binary_ack_read(struct binary_ack *ack, const void *bytes, size_t count);

/* The same as one JSON object, the names of json.md where it has them. Sizes in decimals of the
 * market, as raw integers where `record` is NULL; null where there is no order. */
void binary_ack_json(const struct binary_ack *ack, const struct instrument *record,
                     char text[BINARY_ACK_TEXT_MAX]);

#endif
