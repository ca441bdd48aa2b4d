/* hex.h - bytes as hexadecimal text: lower case when written, either case when read. Pure: any
 * thread. */
#ifndef BASE_HEX_H
#define BASE_HEX_H

#include "base/compiler.h"

/* Writes 2 * count characters and a closing zero. */
void hex_encode(char *text, const uint8_t *bytes, size_t count);

/* Reads exactly 2 * count digits. False if the text is anything else; `bytes` is then undefined. */
CC_MUST_USE bool hex_decode(uint8_t *bytes, size_t count, const char *text, size_t text_count);

#endif
