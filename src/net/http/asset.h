/* asset.h - the files of the web console, which are in the program (docs/spec/console.md).
 *
 * tools/assets.cmake writes the table from web/dist, each file with the codings that a client may
 * choose. A page is answered at `/`, any other file under ASSET_PATH by its name, in which the hash
 * of its bytes is. Pure and read-only; any thread. */
#ifndef NET_HTTP_ASSET_H
#define NET_HTTP_ASSET_H

#include "net/http/asset_table.h"
#include "net/http/writer.h"

#define ASSET_PATH "/console/"

/* What one request gets. */
struct asset_choice {
    uint16_t number; /* in asset_table */
    uint8_t coding;  /* enum asset_coding */
    bool is_known;   /* the client has these bytes: 304 */
};

/* The page of a listener, or the file of a name under ASSET_PATH: its number in asset_table, or -1.
 */
CC_MUST_USE int asset_find_page(bool admin);
CC_MUST_USE int asset_find_file(const char *name, size_t count);

/* Chooses the coding by the value of Accept-Encoding, and whether If-None-Match names it; with a
 * count of 0 the header is absent. */
struct asset_choice asset_choose(uint16_t number, const char *accepted, size_t accepted_count,
                                 const char *known, size_t known_count);

/* Writes the headers of the answer that are the asset's own, each after the line end before it.
 * `tls`: the listener speaks TLS. */
void asset_write_head(struct writer *head, const struct asset_choice *choice, bool tls);

/* The bytes of the answer; none for 304. */
struct asset_body asset_body(const struct asset_choice *choice);

#endif
