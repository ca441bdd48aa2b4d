#include "net/response/standing.h"

void standing_write(struct writer *head, const struct net_source *source)
{
    struct net_standing standing;

    if (source->standing == NULL)
        return;
    source->standing(source->context, &standing);
    WRITER_TEXT(head, "\r\nX-Term: ");
    writer_uint(head, standing.term);
    if (!standing.is_replica)
        return;
    WRITER_TEXT(head, "\r\nX-Staleness-Ms: ");
    writer_uint(head, standing.staleness_ms);
}
