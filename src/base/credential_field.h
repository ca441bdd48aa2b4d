/* credential_field.h - the credential id at the end of a request's body (wire.md W3, codes 19 and
 * 30). Pure. */
#ifndef BASE_CREDENTIAL_FIELD_H
#define BASE_CREDENTIAL_FIELD_H

#include "base/compiler.h"

/* Finds the credential id in a body of these codes (19, 30): stores where it is and its bytes.
 * False for other codes, an id that has not 1 to 256 bytes, and a body that does not end with it,
 * padded to 8; then *id is NULL and *id_bytes 0. The zeros of the padding are not looked at. */
CC_MUST_USE bool credential_field_find(uint32_t request_code, const uint8_t *body,
                                       size_t body_bytes, const uint8_t **id, uint32_t *id_bytes);

#endif
