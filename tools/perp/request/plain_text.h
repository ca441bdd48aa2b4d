/* plain_text.h - keeps what an exchange says from commanding the terminal on which it is shown. */
#ifndef PERP_REQUEST_PLAIN_TEXT_H
#define PERP_REQUEST_PLAIN_TEXT_H

#include "base/compiler.h"

/* Puts a question mark for each byte of a control character (wire.md W1) in a text, JSON or not, of
 * an escape of JSON that stands for one, and of no character of UTF-8; a space for a tabulator or a
 * carriage return. Line ends stay. JSON stays JSON, and a text that has none of these stays as it
 * is. */
void plain_text_make(char *text, size_t count);

#endif
