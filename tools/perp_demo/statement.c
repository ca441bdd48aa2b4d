#include "perp_demo/statement.h"

#include <jansson.h>
#include <stdio.h>

#include "perp_demo/pause.h"

enum { PAGE_ROWS = 1000, PROOFS_AT_ONCE = 16 };

/* One read and its answer; `rows` is NULL when there is none. */
struct page {
    json_t *rows;
    bool again; /* courier_is_later */
};

static void accept_page(void *context, const struct courier_parcel *parcel,
                        const struct client_answer *answer, const struct outcome *outcome)
{
    struct page *page = context;
    (void)parcel;
    (void)outcome;
    page->again = courier_is_later(answer->status);
    if (answer->status == 200)
        page->rows = json_loadb(answer->body, answer->body_count, 0, NULL);
    else if (!page->again)
        fprintf(stderr, "%s: HTTP %u %.*s\n", parcel->target, answer->status,
                (int)answer->body_count, answer->body);
}

/* Reads a target; one that is not ready again and again. NULL: it cannot be read. */
static json_t *read_page(struct bot *bot, const char *target)
{
    struct page page = { .again = true };
    for (uint32_t tries = 0; page.again && pause_before(tries); tries++) {
        courier_ask(&bot->courier, target, 0, 0);
        if (!courier_collect(&bot->courier, accept_page, &page))
            bot_die(bot, bot->courier.client.error);
    }
    bot->problems += page.rows == NULL && !page.again;
    return page.rows;
}

static const char *text_of(const json_t *row, const char *name)
{
    const char *text = json_string_value(json_object_get(row, name));
    return text != NULL ? text : "";
}

static int64_t decimal_of(struct bot *bot, const json_t *row, const char *name, unsigned scale)
{
    const json_t *member = json_object_get(row, name);
    int64_t value = 0;
    if (!json_is_string(member) ||
        decimal_parse(json_string_value(member), json_string_length(member), scale, INT64_MIN + 1,
                      INT64_MAX, &value) != DECIMAL_OK)
        bot_die(bot, name);
    return value;
}

static int64_t sign_of(const json_t *row)
{
    return strcmp(text_of(row, "side"), "SHORT") == 0 ? -1 : 1;
}

static uint32_t market_of(struct bot *bot, const json_t *row)
{
    uint32_t market = listing_find(text_of(row, "market"));
    if (market == LISTING_MARKETS)
        bot_die(bot, "a row of an unknown market");
    return market;
}

static void add_order(struct bot *bot, struct statement *statement, const json_t *row)
{
    uint32_t market = market_of(bot, row);
    const struct instrument *record = &bot->records[market];
    struct statement_sum *sum = &statement->orders[market];
    int64_t filled = decimal_of(bot, row, "filled_size", record->size_decimals);
    if (strcmp(text_of(row, "order_status"), "REJECTED") == 0)
        return;
    sum->count++;
    if (filled == 0)
        return;
    int64_t average =
        decimal_of(bot, row, "average_price", record->price_decimals + DECIMAL_AVERAGE_DIGITS);
    sum->size += sign_of(row) * filled;
    sum->notional += sign_of(row) * bot_notional(filled, average);
}

/* Is it what R6 asks of a fill at the rates of some tier. */
static bool is_fee(int128 notional, bool maker, int64_t fee)
{
    static const int64_t maker_ppm[] = { 150, 120, 80, 40, 0, -20 };
    static const int64_t taker_ppm[] = { 450, 400, 350, 300, 280, 260 };
    for (size_t tier = 0; tier < CC_COUNT(maker_ppm); tier++) {
        int64_t ppm = maker ? maker_ppm[tier] : taker_ppm[tier];
        int128 wanted =
            ppm < 0 ? -(notional * -ppm / 1000000) : (notional * ppm + 999999) / 1000000;
        if (wanted == fee)
            return true;
    }
    return false;
}

static void add_fill(struct bot *bot, struct statement *statement, const json_t *row)
{
    uint32_t market = market_of(bot, row);
    const struct instrument *record = &bot->records[market];
    struct statement_sum *sum = &statement->fills[market];
    int64_t size = decimal_of(bot, row, "quantity", record->size_decimals);
    int64_t fee = decimal_of(bot, row, "fee", 6);
    int128 notional = (int128)size * decimal_of(bot, row, "price", record->price_decimals);
    bool maker = strcmp(text_of(row, "liquidity"), "MAKER") == 0;
    sum->count++;
    sum->size += sign_of(row) * size;
    sum->notional += sign_of(row) * notional;
    sum->fees += fee;
    statement->odd_fees += !is_fee(notional, maker, fee);
}

/* Adds all rows of a list, page by page. */
static void read_list(struct bot *bot, struct statement *statement, const char *path,
                      void (*add)(struct bot *, struct statement *, const json_t *))
{
    json_int_t sequence = INT64_MAX, index = 0;
    char target[COURIER_TARGET_MAX];
    for (bool more = true; more;) {
        snprintf(target, sizeof target,
                 "%s?subaccount_index=0&limit=%d&before_sequence=%lld&before_index=%lld", path,
                 PAGE_ROWS, (long long)sequence, (long long)index);
        json_t *rows = read_page(bot, target), *row;
        size_t place;
        statement->complete = statement->complete && rows != NULL;
        json_array_foreach(rows, place, row)
        {
            json_int_t row_sequence = json_integer_value(json_object_get(row, "sequence"));
            json_int_t row_index = json_integer_value(json_object_get(row, "index"));
            statement->out_of_turn +=
                row_sequence > sequence || (row_sequence == sequence && row_index >= index);
            sequence = row_sequence;
            index = row_index;
            add(bot, statement, row);
        }
        more = json_array_size(rows) == PAGE_ROWS;
        json_decref(rows);
    }
}

void statement_read(struct bot *bot, struct statement *statement)
{
    *statement = (struct statement){ .complete = true };
    read_list(bot, statement, "/api/v1/orders", add_order);
    read_list(bot, statement, "/api/v1/fills", add_fill);
}

void statement_positions(struct bot *bot, int64_t sizes[LISTING_MARKETS])
{
    json_t *rows = read_page(bot, "/api/v1/positions"), *row;
    size_t place;
    memset(sizes, 0, LISTING_MARKETS * sizeof sizes[0]);
    json_array_foreach(rows, place, row)
    {
        uint32_t market = market_of(bot, row);
        sizes[market] +=
            sign_of(row) * decimal_of(bot, row, "size", bot->records[market].size_decimals);
    }
    json_decref(rows);
}

/* A proof under way: the receipts asked for, by the slot of their parcels. */
struct inquiry {
    struct statement_proof *proof;
    const struct receipt *asked[PROOFS_AT_ONCE];
    bool again[PROOFS_AT_ONCE];
};

static void accept_request(void *context, const struct courier_parcel *parcel,
                           const struct client_answer *answer, const struct outcome *outcome)
{
    struct inquiry *inquiry = context;
    const struct receipt *receipt = inquiry->asked[parcel->slot];
    (void)outcome;
    bool untold = receipt->found == RECEIPT_UNTOLD;
    inquiry->again[parcel->slot] = courier_is_later(answer->status);
    if (inquiry->again[parcel->slot])
        return;
    if (untold && answer->status == 404) {
        inquiry->proof->untold_unused++;
        return;
    }
    inquiry->proof->asked++;
    if (answer->status != 200) {
        inquiry->proof->missing++;
        return;
    }
    json_t *root = json_loadb(answer->body, answer->body_count, 0, NULL);
    uint64_t sequence = (uint64_t)json_integer_value(json_object_get(root, "sequence"));
    bool same =
        sequence != 0 && (receipt->sequence == 0 || receipt->sequence == sequence) &&
        (untold || strcmp(text_of(root, "status"), status_name((enum status)receipt->status)) == 0);
    inquiry->proof->untold_executed += untold;
    inquiry->proof->found += same;
    inquiry->proof->different += !same;
    json_decref(root);
}

static void ask_request(struct bot *bot, const struct receipt *receipt, uint8_t slot)
{
    char target[COURIER_TARGET_MAX], id[UUID_TEXT_BYTES + 1];
    uuid_format(&receipt->id, id);
    snprintf(target, sizeof target, "/api/v1/requests/%s", id);
    courier_ask(&bot->courier, target, 0, slot);
}

/* Asks for the first `count` of inquiry->asked, those that are not ready again and again. */
static void inquire(struct bot *bot, struct inquiry *inquiry, uint8_t count)
{
    uint8_t open = count;
    memset(inquiry->again, 1, sizeof inquiry->again);
    for (uint32_t tries = 0; open > 0 && pause_before(tries); tries++) {
        for (uint8_t slot = 0; slot < count; slot++) {
            if (inquiry->again[slot])
                ask_request(bot, inquiry->asked[slot], slot);
        }
        if (!courier_collect(&bot->courier, accept_request, inquiry))
            bot_die(bot, bot->courier.client.error);
        open = 0;
        for (uint8_t slot = 0; slot < count; slot++)
            open = (uint8_t)(open + inquiry->again[slot]);
    }
    inquiry->proof->asked += open;
    inquiry->proof->missing += open; /* never ready: not found either */
}

void statement_prove(struct bot *bot, struct statement_proof *proof)
{
    struct inquiry inquiry = { .proof = proof };
    const struct receipts *receipts = &bot->courier.receipts;
    uint8_t count = 0;
    *proof = (struct statement_proof){ 0 };
    for (uint32_t i = 0; i < receipts->count; i++) {
        const struct receipt *receipt = &receipts->rows[i];
        if (receipt->generation > 0 && receipt->found == RECEIPT_ANSWERED)
            continue;
        inquiry.asked[count++] = receipt;
        if (count == PROOFS_AT_ONCE) {
            inquire(bot, &inquiry, count);
            count = 0;
        }
    }
    inquire(bot, &inquiry, count);
}
