#include "perp_demo/audit_answer.h"

#include <jansson.h>
#include <stdio.h>

#include "base/decimal.h"
#include "perp_demo/pause.h"

static bool read_decimal(const json_t *object, const char *name, unsigned scale, int64_t *value)
{
    const json_t *member = json_object_get(object, name);
    return json_is_string(member) &&
           decimal_parse(json_string_value(member), json_string_length(member), scale,
                         INT64_MIN + 1, INT64_MAX, value) == DECIMAL_OK;
}

static const char *read_market(struct audit_answer *audit, const json_t *markets, uint32_t place,
                               unsigned size_decimals)
{
    size_t index;
    json_t *row;
    json_array_foreach(markets, index, row)
    {
        const char *name = json_string_value(json_object_get(row, "market"));
        if (name == NULL || strcmp(name, listing_at(place)->market) != 0)
            continue;
        audit->markets[place].book_empty = json_is_null(json_object_get(row, "best_bid")) &&
                                           json_is_null(json_object_get(row, "best_ask"));
        return !read_decimal(row, "size_sum", size_decimals, &audit->markets[place].size_sum)
                   ? "size_sum"
               : !read_decimal(row, "cost_sum", 6, &audit->markets[place].cost_sum) ? "cost_sum"
                                                                                    : NULL;
    }
    return "markets";
}

static const char *read_all(struct audit_answer *audit, const json_t *root,
                            const struct instrument *records)
{
    const json_t *totals = json_object_get(root, "totals");
    const json_t *differences = json_object_get(root, "recount_differences");
#define X(name)                                        \
    if (!read_decimal(totals, #name, 6, &audit->name)) \
        return #name;
    AUDIT_TOTAL_LIST(X)
#undef X
    for (int i = 0; i < AUDIT_INVARIANTS; i++) {
        const char name[] = { 'i', (char)('1' + i), '\0' };
        const json_t *holds = json_object_get(root, name);
        if (!json_is_boolean(holds))
            return "i1..i6";
        audit->holds[i] = json_is_true(holds);
    }
    if (!json_is_integer(differences))
        return "recount_differences";
    audit->recount_differences = json_integer_value(differences);
    audit->sequence = (uint64_t)json_integer_value(json_object_get(root, "sequence"));
    for (uint32_t i = 0; i < LISTING_MARKETS; i++) {
        const char *wrong =
            read_market(audit, json_object_get(root, "markets"), i, records[i].size_decimals);
        if (wrong != NULL)
            return wrong;
    }
    return NULL;
}

bool audit_answer_read(struct audit_answer *audit, struct client *admin,
                       const struct instrument records[LISTING_MARKETS])
{
    struct client_request request = { .method = "GET", .target = "/audit" };
    struct client_answer answer = { .status = 503 };
    *audit = (struct audit_answer){ 0 };
    for (uint32_t tries = 0; answer.status == 503 && pause_before(tries); tries++) {
        if (client_call(admin, &request, &answer) != 0) {
            fprintf(stderr, "demo: /audit: %s\n", admin->error);
            return false;
        }
    }
    if (answer.status != 200) {
        fprintf(stderr, "demo: /audit: HTTP %u %.*s\n", answer.status, (int)answer.body_count,
                answer.body);
        return false;
    }
    json_t *root = json_loadb(answer.body, answer.body_count, 0, NULL);
    const char *wrong = read_all(audit, root, records);
    json_decref(root);
    if (wrong != NULL)
        fprintf(stderr, "demo: /audit: no usable '%s' in %.*s\n", wrong, (int)answer.body_count,
                answer.body);
    return wrong == NULL;
}

bool audit_answer_balances(const struct audit_answer *audit)
{
    int128 there = (int128)audit->cash - audit->cost + audit->fee_account +
                   audit->withdrawals_pending + audit->funding_pool;
    int128 came =
        (int128)audit->deposits + audit->faucet + audit->top_ups - audit->withdrawals_settled;
    return there == came;
}
