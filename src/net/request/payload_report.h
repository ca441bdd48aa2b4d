/* payload_report.h - what perpd makes of a signed request, without executing it: each byte's field,
 * the digest, the verdict of each check and the mistake that a wrong signature shows (wire.md W7,
 * json.md J6, POST /api/v1/debug/payload). Net thread. */
#ifndef NET_REQUEST_PAYLOAD_REPORT_H
#define NET_REQUEST_PAYLOAD_REPORT_H

#include "net/conn/context.h"
#include "net/http/writer.h"

/* Verifies the signature and searches for mistakes: about 3 ms of computing for a signature that
 * does not verify. `octets`: the body is a frame, else a JSON envelope. */
void payload_report_search(const struct context *context, const char *body, size_t count,
                           bool octets, struct signing_finding *finding);

/* Writes the report of a body that payload_report_search has seen. */
void payload_report_write(const struct context *context, const char *body, size_t count,
                          bool octets, const struct signing_finding *finding,
                          struct writer *writer);

#endif
