/* Batches before any key: exact length, ids of the orders that they place (rules.md R11, steps 6 to
 * 8; wire.md W3, code 8). What holds for every code is in test_refusals.c. */
#include <stdio.h>

#include "check.h"
#include "net/request/admission.h"

enum { ITEMS_AT = REQUEST_BODY_AT + 24, ITEM_BYTES = 64, ITEM_ID_AT = 32, NOW_MS = 1000000000 };

static uint8_t payload[REQUEST_PAYLOAD_MAX];

static const struct route_path path = {
    .path = "/api/v1/trading/order/batch",
    .kind = ROUTE_SIGNED,
    .codes = { REQUEST_order_batch },
    .code_count = 1,
};

/* A UUIDv7 of the time. */
static void put_id(uint8_t *to, uint64_t ms)
{
    memset(to, 0, 16);
    for (int i = 0; i < 6; i++)
        to[i] = (uint8_t)(ms >> (40 - 8 * i));
    to[6] = 0x70;
    to[8] = 0x80;
}

/* `items` good placements behind a good head. */
static void begin(uint16_t items)
{
    memset(payload, 0, sizeof payload);
    payload[0] = 1;
    cc_store16(payload + 2, REQUEST_order_batch);
    put_id(payload + 8, NOW_MS);
    cc_store16(payload + REQUEST_BODY_AT + 16, items);
    for (uint32_t i = 0; i < items && i < 64; i++)
        put_id(payload + ITEMS_AT + i * ITEM_BYTES + ITEM_ID_AT, NOW_MS);
}

static struct problem_detail problem;

static bool passes(uint32_t body_bytes)
{
    const struct admission_window window = { NOW_MS, 30000, 5000 };
    const struct envelope envelope = {
        .payload = payload,
        .payload_bytes = REQUEST_BODY_AT + body_bytes,
        .key_bytes = 32,
    };

    problem = (struct problem_detail){ 0 };
    return admission_check(&envelope, &path, &window, &problem) == request_find(8);
}

static bool fails(uint32_t body_bytes, enum problem code, const char *detail)
{
    return !passes(body_bytes) && problem.code == code && strcmp(problem.detail, detail) == 0;
}

static void lengths(void)
{
    begin(1);
    CHECK(passes(24 + 64));
    CHECK(
        fails(24, PROBLEM_malformed_payload, "a batch of 1 items has a body of 88 bytes, not 24"));
    CHECK(!passes(24 + 64 + 8) && !passes(24 + 128) && !passes(16) && !passes(0));
    begin(0); /* R11 row 9: the engine's to refuse */
    CHECK(passes(24) && !passes(24 + 64));
    begin(64);
    CHECK(passes(24 + 64 * 64) && !passes(24 + 63 * 64));
    begin(65); /* 24 + 65 * 64 is above every bound: whatever comes is shorter */
    CHECK(fails(24 + 64 * 64, PROBLEM_malformed_payload,
                "a batch of 65 items has a body of 4184 bytes, not 4120"));
    begin(65535);
    CHECK(!passes(24 + 64 * 64));
}

static void ids(void)
{
    uint8_t *third = payload + ITEMS_AT + 2 * ITEM_BYTES;
    uint32_t bytes = 24 + 3 * ITEM_BYTES;

    begin(3);
    third[ITEM_ID_AT + 6] = 0x40;
    CHECK(fails(bytes, PROBLEM_request_id_not_v7,
                "the order id of item 2 is not a UUIDv7: version 4, variant 2"));
    for (uint8_t op = 1; op <= 4; op++) { /* a target, or an unknown op: the engine's (rows 6, 9) */
        third[0] = op;
        CHECK(passes(bytes));
    }
    third[0] = 0;
    put_id(third + ITEM_ID_AT, NOW_MS - 30000);
    CHECK(passes(bytes));
    put_id(third + ITEM_ID_AT, NOW_MS - 30001);
    CHECK(fails(bytes, PROBLEM_request_timestamp_out_of_window,
                "the order id of item 2 is 30001 ms old; at most 30000 ms are allowed"));
    CHECK(problem.number == NOW_MS);
    put_id(third + ITEM_ID_AT, NOW_MS + 5000);
    CHECK(passes(bytes));
    put_id(third + ITEM_ID_AT, NOW_MS + 5001);
    CHECK(fails(bytes, PROBLEM_request_timestamp_out_of_window,
                "the order id of item 2 is 5001 ms ahead; at most 5000 ms are allowed"));
    third[0] = 3;
    CHECK(passes(bytes)); /* an order may be as old as it likes */
}

/* Every version before any clock (R11: step 7, then 8), the request's before the items'. */
static void order_of_the_steps(void)
{
    uint8_t *first = payload + ITEMS_AT, *second = first + ITEM_BYTES;
    uint32_t bytes = 24 + 2 * ITEM_BYTES;

    begin(2);
    put_id(payload + 8, 1);
    put_id(first + ITEM_ID_AT, 1);
    second[ITEM_ID_AT + 8] = 0;
    CHECK(fails(bytes, PROBLEM_request_id_not_v7,
                "the order id of item 1 is not a UUIDv7: version 7, variant 0"));
    second[ITEM_ID_AT + 8] = 0x80;
    CHECK(fails(bytes, PROBLEM_request_timestamp_out_of_window,
                "the request id is 999999999 ms old; at most 30000 ms are allowed"));
    payload[8 + 6] = 0;
    first[ITEM_ID_AT + 6] = 0;
    CHECK(fails(bytes, PROBLEM_request_id_not_v7,
                "the request id is not a UUIDv7: version 0, variant 2"));
}

int main(void)
{
    lengths();
    ids();
    order_of_the_steps();
    return 0;
}
