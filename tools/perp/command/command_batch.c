/* command_batch.c - sends up to 64 orders, changes and cancels in one request. */
#include <errno.h>
#include <stdio.h>
#include <strings.h>

#include "base/field.h"
#include "perp/command/command.h"
#include "perp/invocation/choice.h"

enum { LINE_MAX_BYTES = 512, WORDS_MAX = 12, ITEMS_MAX = 64 };
enum { OP_PLACE, OP_REDUCE, OP_REPLACE, OP_CANCEL };

/* Bytes of an item (W3, code 8). */
enum {
    AT_OP = 0,
    AT_POST_ONLY = 1,
    AT_REDUCE_ONLY = 2,
    AT_STP = 3,
    AT_ASSET = 4,
    AT_PRICE = 8,
    AT_QUANTITY = 16,
    AT_EXPIRY = 24,
    AT_ID = 32,
};

struct item {
    uint8_t bytes[64];
};

struct batch {
    struct item items[ITEMS_MAX];
    uint32_t count;
    bool atomic;
};

/* One line of the file, cut into words. */
struct line {
    char text[LINE_MAX_BYTES];
    const char *words[WORDS_MAX];
    uint32_t word_count;
    uint32_t number;
};

static bool wrong(struct context *context, const struct line *line, const char *what)
{
    return context_fail(context, EXIT_CODE_usage, "%s, line %u: %s", context->arguments->words[0],
                        line->number, what);
}

static void cut(struct line *line)
{
    char *rest = NULL;
    line->word_count = 0;
    for (char *word = strtok_r(line->text, " \t\r\n", &rest);
         word != NULL && word[0] != '#' && line->word_count < WORDS_MAX;
         word = strtok_r(NULL, " \t\r\n", &rest))
        line->words[line->word_count++] = word;
}

static bool read_expiry(const char *text, uint64_t *expiry)
{
    *expiry = strcasecmp(text, "IOC") == 0 ? 0 : strcasecmp(text, "FOK") == 0 ? 1 : UINT64_MAX;
    return *expiry != UINT64_MAX || strcasecmp(text, "GTC") == 0;
}

/* The words after the numbers: post-only, reduce-only, tif=IOC, stp=EXPIRE_MAKER. */
static bool read_options(struct context *context, const struct line *line, uint32_t from,
                         struct item *item)
{
    uint64_t expiry = UINT64_MAX, stp = 0;
    for (uint32_t i = from; i < line->word_count; i++) {
        const char *word = line->words[i];
        if (strcmp(word, "post-only") == 0)
            item->bytes[AT_POST_ONLY] = 1;
        else if (strcmp(word, "reduce-only") == 0)
            item->bytes[AT_REDUCE_ONLY] = 1;
        else if (strncmp(word, "stp=", 4) == 0) {
            if (!choice_name(context, word + 4, REQUEST_place_limit_order, "stp", &stp))
                return false;
        } else if (strncmp(word, "tif=", 4) != 0 || !read_expiry(word + 4, &expiry)) {
            return wrong(context, line,
                         "behind PRICE stand post-only, reduce-only, tif=GTC|IOC|FOK and stp=MODE");
        }
    }
    item->bytes[AT_STP] = (uint8_t)stp;
    cc_store64(item->bytes + AT_EXPIRY, expiry);
    return true;
}

/* SIDE SIZE PRICE from word `from` on. */
static bool read_terms(struct context *context, const struct line *line, uint32_t from,
                       struct item *item)
{
    char error[INSTRUMENT_ERROR_MAX];
    int64_t size, price;
    bool sell;
    if (line->word_count < from + 3)
        return wrong(context, line, "SIDE, SIZE and PRICE are needed");
    if (!choice_side(context, "SIDE", line->words[from], &sell))
        return false;
    if (!instrument_size(&context->record, line->words[from + 1], &size, error) ||
        !instrument_price(&context->record, line->words[from + 2], &price, error))
        return wrong(context, line, error);
    cc_store64(item->bytes + AT_PRICE, (uint64_t)price);
    cc_store64(item->bytes + AT_QUANTITY, (uint64_t)(sell ? -size : size));
    return read_options(context, line, from + 3, item);
}

static bool read_target(struct context *context, const struct line *line, uint32_t words,
                        struct item *item)
{
    struct uuid id;
    if (line->word_count < words)
        return wrong(context, line, "words are missing");
    if (!choice_uuid(context, "ORDER_ID", line->words[2], &id))
        return false;
    memcpy(item->bytes + AT_ID, id.bytes, UUID_BYTES);
    return true;
}

/* Makes and prints the id of each new order: the answer has none. */
static bool read_new(struct context *context, const struct line *line, uint32_t number,
                     struct item *item)
{
    char text[UUID_TEXT_BYTES + 1];
    struct uuid id;
    if (!read_terms(context, line, 2, item))
        return false;
    if (draft_fresh_id(&id) != 0)
        return wrong(context, line, "no random bytes");
    memcpy(item->bytes + AT_ID, id.bytes, UUID_BYTES);
    uuid_format(&id, text);
    fprintf(stderr, "item %u is order %s\n", number, text);
    return true;
}

static bool read_item(struct context *context, const struct line *line, uint32_t number,
                      struct item *item)
{
    static const char *const ops[] = { "order", "reduce", "replace", "cancel" };
    char error[INSTRUMENT_ERROR_MAX];
    uint8_t op = 0;
    int64_t size;
    while (op < CC_COUNT(ops) && strcmp(line->words[0], ops[op]) != 0)
        op++;
    if (op == CC_COUNT(ops))
        return wrong(context, line, "a line begins with order, reduce, replace or cancel");
    if (line->word_count < 3)
        return wrong(context, line, "words are missing");
    if (!context->has_record || strcmp(context->record.market, line->words[1]) != 0)
        if (!context_market(context, line->words[1]))
            return false;
    item->bytes[AT_OP] = op;
    cc_store16(item->bytes + AT_ASSET, context->record.asset_id);
    switch (op) {
    case OP_PLACE:
        return read_new(context, line, number, item);
    case OP_REDUCE:
        if (!read_target(context, line, 4, item))
            return false;
        if (!instrument_size(&context->record, line->words[3], &size, error))
            return wrong(context, line, error);
        cc_store64(item->bytes + AT_QUANTITY, (uint64_t)size);
        return line->word_count == 4 || wrong(context, line, "too many words");
    case OP_REPLACE:
        return read_target(context, line, 6, item) && read_terms(context, line, 3, item);
    default:
        return read_target(context, line, 3, item) &&
               (line->word_count == 3 || wrong(context, line, "too many words"));
    }
}

static bool read_file(struct context *context, FILE *file, struct batch *batch)
{
    struct line line = { 0 };
    while (fgets(line.text, sizeof line.text, file) != NULL) {
        line.number++;
        if (strlen(line.text) == sizeof line.text - 1)
            return wrong(context, &line, "the line is too long");
        cut(&line);
        if (line.word_count == 0)
            continue;
        if (line.word_count == 1 && strcmp(line.words[0], "atomic") == 0 && batch->count == 0) {
            batch->atomic = true;
            continue;
        }
        if (batch->count == ITEMS_MAX)
            return wrong(context, &line, "a batch has at most 64 items");
        if (!read_item(context, &line, batch->count, &batch->items[batch->count]))
            return false;
        batch->count++;
    }
    if (ferror(file)) /* what was read is a part of the batch */
        return context_fail(context, EXIT_CODE_usage, "cannot read %s: %s",
                            context->arguments->words[0], strerror(errno));
    return batch->count != 0 ||
           context_fail(context, EXIT_CODE_usage, "%s holds no item", context->arguments->words[0]);
}

static bool fill(struct context *context, struct draft *draft)
{
    static struct batch batch;
    const char *path = context->arguments->words[0];
    struct draft_portfolio portfolio;
    struct uuid id;
    bool standard_input = strcmp(path, "-") == 0;
    FILE *file = standard_input ? stdin : fopen(path, "re");
    if (file == NULL)
        return context_fail(context, EXIT_CODE_usage, "cannot read %s: %s", path, strerror(errno));
    bool good = read_file(context, file, &batch);
    if (!standard_input)
        fclose(file);
    if (!good || !context_id(context, &id) || !context_portfolio(context, &portfolio))
        return false;
    draft_begin_batch(draft, &id, batch.count);
    draft_set_portfolio(draft, "portfolio_id", &portfolio);
    draft_set(draft, "atomic", batch.atomic);
    for (uint32_t i = 0; i < batch.count; i++)
        memcpy(draft_item(draft, i), batch.items[i].bytes, sizeof batch.items[i].bytes);
    return true;
}

int command_batch_send(struct context *context)
{
    return context_submit(context, SETTING_session_key, SIGNATURE_ED25519, fill);
}
