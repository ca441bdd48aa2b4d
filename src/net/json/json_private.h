/* json_private.h - the private events of an account as JSON (json.md J9). Pure. */
#ifndef NET_JSON_JSON_PRIVATE_H
#define NET_JSON_JSON_PRIVATE_H

#include "base/private_log.h"
#include "net/http/writer.h"

enum { JSON_PRIVATE_MAX = 1536 }; /* bytes of the data of an event */

/* The data of an update of the channel `private`. */
void json_private_event(struct writer *writer, const struct private_event *event);

#endif
