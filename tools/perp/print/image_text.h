/* image_text.h - the canonical image as text: a line for each row of each section, each field by
 * its name, from the lists that the engine writes the image by.
 *
 * A section of a version that this binary does not write is shown as rows of bytes.
 * Owner. One thread; writes to the stream it is given and nowhere else. */
#ifndef PERP_PRINT_IMAGE_TEXT_H
#define PERP_PRINT_IMAGE_TEXT_H

#include <stdio.h>

#include "store/snapshot.h"

/* The name of a section; "?" for an unknown code. */
const char *image_text_name(uint32_t code);

/* How many rows a section has; the last one may be cut short. */
uint64_t image_text_rows(const struct snapshot_section *section);

/* Writes "accounts 3  created_sequence=.. ...\n"; `row` is below image_text_rows. */
void image_text_row(FILE *out, const struct snapshot_section *section, uint64_t row);

/* Where two images first differ. */
struct image_text_location {
    uint32_t code; /* of the section */
    uint64_t row;
    const struct snapshot_section *left, *right; /* NULL: that image has no such section */
};

/* False: they are equal. */
CC_MUST_USE bool image_text_differs(const struct snapshot_section *left, uint32_t left_count,
                                    const struct snapshot_section *right, uint32_t right_count,
                                    struct image_text_location *location);

/* The row at the location, of both, with the fields that differ named. */
void image_text_difference(FILE *out, const struct image_text_location *location,
                           const char *left_name, const char *right_name);

#endif
