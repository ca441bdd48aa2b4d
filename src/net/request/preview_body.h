/* preview_body.h - the JSON of POST /api/v1/eip712/preview: a payload that a wallet is to sign
 * (wire.md W7, json.md J6). Pure. */
#ifndef NET_REQUEST_PREVIEW_BODY_H
#define NET_REQUEST_PREVIEW_BODY_H

#include "base/request.h"
#include "crypto/eip712.h"
#include "net/http/problem_detail.h"

/* Reads {"payload": Base64} and computes the hashes of its typed data. The payload needs the length
 * of its request type, zero pads, valid texts and signature_type Secp256k1; its clock is not looked
 * at. False with malformed_json, invalid_base64, malformed_payload, unsupported_version or
 * request_type_not_allowed in *problem. */
CC_MUST_USE bool preview_body_read(const struct eip712 *eip712, const char *text, size_t count,
                                   uint8_t payload[REQUEST_PAYLOAD_MAX], size_t *payload_bytes,
                                   struct eip712_hashes *hashes, struct problem_detail *problem);

#endif
