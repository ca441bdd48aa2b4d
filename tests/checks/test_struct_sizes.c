/* The sizes that matter, pinned in one place: what crosses rings in slots, what is one cache line
 * because the figures depend on it, and what the formats on disk fix. A change here is a decision.
 * The program does nothing: a wrong size does not compile. */
#include "base/compiler.h"
#include "base/keyring.h"
#include "base/query_message.h"
#include "base/row.h"
#include "base/row_history.h"
#include "base/uuid.h"
#include "engine/table/book.h"
#include "engine/table/duplicate.h"
#include "engine/table/hash_index.h"
#include "engine/table/order.h"
#include "store/exchange_file.h"
#include "store/frame.h"
#include "store/record.h"
#include "store/segment.h"

#define PIN(what, bytes) static_assert((what) == (bytes), #what " is pinned to " #bytes)

/* Rings (roles.md, Flow control): slots of 128 bytes; an order is 2 slots with its parts
 * behind the command; an answer, a query and a reply are 1. */
PIN(MESSAGE_SLOT_BYTES, 128);
PIN(sizeof(struct command), 80);
PIN(sizeof(struct answer), 128);
PIN(sizeof(struct query), 128);
PIN(sizeof(struct reply), 128);

/* Hot structures (docs/performance.md). */
PIN(sizeof(struct order), 64);
PIN(sizeof(struct order_cold), 28);
PIN(sizeof(struct order_extra), 48);
PIN(sizeof(struct book_level), 16);
PIN(sizeof(struct hash_index_bucket), 64);
PIN(sizeof(struct duplicate_row), 40); /* wire.md, W5 */
PIN(sizeof(struct duplicate_slot), 64);
PIN(sizeof(struct keyring_key), 48);
PIN(sizeof(struct keyring_row), 128);
PIN(sizeof(struct uuid), 16);

/* Rows of a reply stand back to back and are read as int128: multiples of 8. */
PIN(sizeof(struct row_order) % 8, 0);
PIN(sizeof(struct row_balance) % 8, 0);
PIN(sizeof(struct row_account) % 8, 0);
PIN(sizeof(struct row_market) % 8, 0);
PIN(sizeof(struct row_book) % 8, 0);
PIN(sizeof(struct row_level), 16);
PIN(sizeof(struct row_subaccount) % 8, 0);
PIN(sizeof(struct row_session), 104);
PIN(sizeof(struct row_master_key), 312);
PIN(sizeof(struct row_api_key), 72);
PIN(sizeof(struct row_position) % 8, 0);
PIN(sizeof(struct row_fill) % 8, 0);
PIN(sizeof(struct row_trades) % 8, 0);
PIN(sizeof(struct row_trade) % 8, 0);
PIN(sizeof(struct row_request) % 8, 0);

/* Formats on disk (journal.md). */
PIN(SLOT_FILE_BYTES, 16384);
PIN(SEGMENT_HEADER_BYTES, 128);
PIN(FRAME_HEADER_BYTES, 128);
PIN(RECORD_HEADER_BYTES, 24);
PIN(RECORD_SIGNATURE_BYTES, 64);

int main(void)
{
    return 0;
}
