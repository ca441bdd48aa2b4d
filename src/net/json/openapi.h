/* openapi.h - the OpenAPI document of this binary: docs/openapi.json as bytes of the program, which
 * tools/openapi.cmake writes as a C file of the build. */
#ifndef NET_JSON_OPENAPI_H
#define NET_JSON_OPENAPI_H

#include <stddef.h>

extern const char openapi_text[]; /* openapi_bytes of JSON, without a closing zero */
extern const size_t openapi_bytes;

#endif
