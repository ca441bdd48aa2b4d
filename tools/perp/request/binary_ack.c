#include "perp/request/binary_ack.h"

#include <stdio.h>

#include "base/status.h"

enum { ORDER_STATUS_OPEN = 0, ORDER_STATUS_PARTIALLY_FILLED = 5 };
enum { SIZE_TEXT_MAX = DECIMAL_TEXT_MAX + 4 };

static const char *const order_status_names[] = {
    "OPEN", "FILLED", "CANCELED", "REJECTED", "UNTRIGGERED", "PARTIALLY_FILLED", "EXPIRED",
};

bool binary_ack_read(struct binary_ack *ack, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    if (count != BINARY_ACK_BYTES || at[3] != BINARY_ACK_VERSION)
        return false;
    *ack = (struct binary_ack){
        .status = cc_load16(at),
        .order_status = at[2],
        .version = at[3],
        .processed_at_ns = cc_load64(at + 8),
        .sequence = cc_load64(at + 16),
        .remaining = cc_load64(at + 40),
        .quantity_ahead = cc_load64(at + 48),
        .verify_ns = cc_load32(at + 56),
        .match_ns = cc_load32(at + 60),
    };
    uuid_load(&ack->request_id, at + 24);
    return ack->status < STATUS_COUNT && (ack->order_status < CC_COUNT(order_status_names) ||
                                          ack->order_status == BINARY_ACK_NO_ORDER);
}

static void size_text(uint64_t raw, const struct instrument *record, bool has,
                      char text[SIZE_TEXT_MAX])
{
    char decimal[DECIMAL_TEXT_MAX];
    /* The wire's value for "none" is above every size. */
    if (!has || raw > INT64_MAX)
        snprintf(text, SIZE_TEXT_MAX, "null");
    else if (record == NULL)
        snprintf(text, SIZE_TEXT_MAX, "%llu", (unsigned long long)raw);
    else {
        decimal_format(decimal, (int64_t)raw, record->size_decimals);
        snprintf(text, SIZE_TEXT_MAX, "\"%s\"", decimal);
    }
}

void binary_ack_json(const struct binary_ack *ack, const struct instrument *record,
                     char text[BINARY_ACK_TEXT_MAX])
{
    char remaining[SIZE_TEXT_MAX], ahead[SIZE_TEXT_MAX], id[UUID_TEXT_BYTES + 1];
    char sequence[48] = "", order_status[32] = "null";
    bool has = ack->order_status != BINARY_ACK_NO_ORDER;
    bool rests = ack->order_status == ORDER_STATUS_OPEN ||
                 ack->order_status == ORDER_STATUS_PARTIALLY_FILLED;
    size_text(ack->remaining, record, has, remaining);
    size_text(ack->quantity_ahead, record, rests, ahead);
    uuid_format(&ack->request_id, id);
    if (has)
        snprintf(order_status, sizeof order_status, "\"%s\"",
                 order_status_names[ack->order_status]);
    if (ack->sequence != 0)
        snprintf(sequence, sizeof sequence, "\"sequence\":%llu,",
                 (unsigned long long)ack->sequence);
    snprintf(text, BINARY_ACK_TEXT_MAX,
             "{\"request_id\":\"%s\",\"status\":\"%s\",\"processed_at_ns\":%llu,%s"
             "\"order_status\":%s,\"remaining_size\":%s,\"quantity_ahead\":%s,"
             "\"timing_ns\":{\"verify\":%u,\"match\":%u}}",
             id, status_name((enum status)ack->status), (unsigned long long)ack->processed_at_ns,
             sequence, order_status, remaining, ahead, ack->verify_ns, ack->match_ns);
}
