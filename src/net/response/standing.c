#include "net/response/standing.h"

void standing_write(struct writer *head, const struct net_source *source, const char *leader)
{
    struct net_standing standing;

    if (source->standing == NULL)
        return;
    source->standing(source->context, &standing);
    WRITER_TEXT(head, "\r\nX-Term: ");
    writer_uint(head, standing.term);
    if (standing.is_replica) {
        WRITER_TEXT(head, "\r\nX-Staleness-Ms: ");
        writer_uint(head, net_standing_staleness_ms(&standing));
    }
    if (leader != NULL) {
        WRITER_TEXT(head, "\r\nX-Leader: ");
        writer_text(head, leader);
    }
}
