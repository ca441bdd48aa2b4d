#include "net/response/cors.h"

void cors_write(struct writer *head, const struct origin_list *origins,
                const struct pending *pending)
{
    struct host_name origin = origin_list_at(origins, pending->origin);
    WRITER_TEXT(head, "\r\nAccess-Control-Allow-Origin: ");
    writer_bytes(head, origin.text, origin.count);
    WRITER_TEXT(head, "\r\nVary: Origin\r\nAccess-Control-Expose-Headers: X-Sequence, "
                      "X-Server-Time-Ns, X-Term, X-Staleness-Ms, X-Leader, Retry-After, "
                      "RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Server-Timing");
    if (pending->kind != PENDING_LOCAL || pending->local.kind != ROUTE_OPTIONS)
        return;
    WRITER_TEXT(head, "\r\nAccess-Control-Allow-Methods: ");
    writer_text(head, pending->allow);
    WRITER_TEXT(head, "\r\nAccess-Control-Allow-Headers: Accept, Authorization, Content-Type, "
                      "X-Ack, X-API-KEY, X-DEVICE-KEY, X-Min-Sequence, X-Timing"
                      "\r\nAccess-Control-Max-Age: 600");
}
