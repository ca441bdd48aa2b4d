/* image.h - the canonical image of the whole state (journal.md, Snapshot). Pure.
 *
 * Sections come in code order and rows in key order; free slots and caches are left out. So equal
 * states give equal bytes, whatever their history. Rows are written field by field, from the field
 * lists beside each struct. The lists of a struct cover all its bytes (checked at compile time), so
 * no field can be forgotten. image_load.h reads an image.
 *
 * Units. Integers are little-endian, as in memory. */
#ifndef ENGINE_IMAGE_IMAGE_H
#define ENGINE_IMAGE_IMAGE_H

#include "base/compiler.h"
#include "engine/table/duplicate.h"
#include "engine/table/image_sink.h"
#include "engine/table/order_record.h"

struct engine;

/* clang-format off */
/*    name            code  version that is written */
#define IMAGE_SECTION_LIST(X) \
    X(engine,            1, 4) /* sequence, t, boot, sums, effects lanes */ \
    X(configuration,     2, 1) /* body of the last 2013 */ \
    X(accounts,          3, 7) /* by account id */ \
    X(credentials,       4, 1) /* by creation */ \
    X(portfolios,        5, 4) /* by creation number */ \
    X(holdings,          6, 2) /* by portfolio, market */ \
    X(orders,            7, 4) /* by market, side, then queue order */ \
    X(markets,           8, 5) /* by definition */ \
    X(deposits,          9, 1) /* by crediting */ \
    X(duplicates,       10, 1) /* by id, account */ \
    X(work,             11, 4) /* deferred work, head first */ \
    X(leverages,        12, 1) /* by portfolio, market */ \
    X(conditionals,     13, 1) /* by portfolio, placing; then what triggered orders keep */ \
    X(mmps,             14, 1) /* by portfolio, market */ \
    X(subaccounts,      15, 2) /* by creation */ \
    X(withdrawals,      16, 1) /* by creation */ \
    X(arms,             17, 1) /* by arming */ \
    X(samples,          18, 1) /* index samples by market, second */ \
    X(liquidation,      19, 2) /* what the work's head item has in progress */ \
    X(passkeys,         20, 1) /* by creation */
/* clang-format on */

enum image_section {
#define X(name, code, version) IMAGE_##name = (code),
    IMAGE_SECTION_LIST(X)
#undef X
        IMAGE_SECTION_END
};

/* The number of sections of an image. */
#define X(name, code, version) +1
enum { IMAGE_SECTION_COUNT = 0 IMAGE_SECTION_LIST(X) };
#undef X

/* The last section of an image whose section `engine` has version 1 or 2. */
enum { IMAGE_SECTION_LAST_1 = IMAGE_leverages, IMAGE_SECTION_LAST_2 = IMAGE_liquidation };

/* Returns the version of a section that image_write writes. A change of a section's content raises
 * its version, and the readers of all earlier versions stay (image_parts.h). */
uint32_t image_version(enum image_section section);

/* Writes the image through the sink. image_hash is the hash of all bytes in their order. The only
 * change to the engine is the order of lists in duplicate.h, which no other function can see. */
void image_write(struct engine *engine, struct image_sink *sink);

/* How far an image is written. All zeros: nothing is. */
struct image_cursor {
    uint32_t section; /* index in the list above */
    bool is_within;   /* the section has begun */
    uint32_t at;      /* the next row of the section, or the market of the orders */
    uint32_t count;   /* orders, or leverages, so far */
    enum order_side side;
    uint32_t tick;
    uint32_t order; /* the next one, ORDER_NONE: the tick is done */
    struct duplicate_cursor duplicates;
};

/* Writes the image in pieces: about `rows` rows more of a long section, or a short section. True:
 * it is whole. Nothing is applied to the engine between two pieces of one image. */
bool image_write_piece(struct engine *engine, struct image_sink *sink, struct image_cursor *cursor,
                       uint32_t rows);

#endif
