/* asyncapi.h - the AsyncAPI document of this binary: docs/asyncapi.json as bytes of the program,
 * which tools/openapi.cmake writes as a C file of the build. */
#ifndef NET_JSON_ASYNCAPI_H
#define NET_JSON_ASYNCAPI_H

#include <stddef.h>

extern const char asyncapi_text[]; /* asyncapi_bytes of JSON, without a closing zero */
extern const size_t asyncapi_bytes;

#endif
