/* Answers that do not depend on the caller are made once for each sequence (roles.md, Threads and
 * budgets): the rows of a second reply are not looked at where the first one's text is kept, and
 * are where anything that an answer follows from is another. */
#include <stdio.h>

#include "base/row.h"
#include "check.h"
#include "net/response/shared_text.h"

enum { LEVELS = 3, DEPTHS = 2 * SHARED_TEXT_ROWS };

static struct shared_texts texts;
static char text[65536];

struct book {
    struct row_book head;
    struct row_level levels[LEVELS];
};

static struct book book_of(const char *market, uint64_t price, uint32_t bids)
{
    struct book book = { .head = { .bid_count = bids, .book_seq = 9 } };
    (void)snprintf(book.head.market, sizeof book.head.market, "%s", market);
    for (uint32_t i = 0; i < LEVELS; i++)
        book.levels[i] = (struct row_level){ .price = price - i, .size = 1 };
    return book;
}

static const char *show(uint64_t applied, const struct book *book)
{
    struct writer writer = writer_begin(text, sizeof text - 1);
    const struct reply reply = {
        .kind = QUERY_book,
        .applied = applied,
        .row_count = 1,
        .row_bytes = (uint32_t)(sizeof book->head + book->head.bid_count * sizeof book->levels[0]),
    };
    shared_text_reply(&texts, &writer, &reply, (const uint8_t *)book);
    CHECK(!writer.full);
    text[writer_count(&writer)] = '\0';
    return text;
}

static void check(uint64_t applied, const char *market, uint64_t price, uint32_t bids,
                  const char *first)
{
    struct book book = book_of(market, price, bids);
    char want[128];
    const char *shown = show(applied, &book);
    (void)snprintf(want, sizeof want, "{\"market\":\"%s\",\"seq\":9,\"engine_seq\":%llu,", market,
                   (unsigned long long)applied);
    CHECK(strncmp(shown, want, strlen(want)) == 0);
    (void)snprintf(want, sizeof want, "\"bids\":[%s", first);
    if (strstr(shown, want) == NULL)
        fprintf(stderr, "%s\n%s\n", shown, want);
    CHECK(strstr(shown, want) != NULL);
}

/* No follower gives other rows at one sequence: here they show whose text it is. */
static void books(void)
{
    check(5, "A-PERP", 100, 2, "[\"100\",\"1\"],[\"99\",\"1\"]]");
    check(5, "A-PERP", 200, 2, "[\"100\",\"1\"],[\"99\",\"1\"]]");
    check(5, "B-PERP", 300, 2, "[\"300\",\"1\"],[\"299\",\"1\"]]");
    check(5, "A-PERP", 400, 1, "[\"400\",\"1\"]]"); /* another depth */
    check(5, "A-PERP", 500, 2, "[\"100\",\"1\"],[\"99\",\"1\"]]");
    check(6, "A-PERP", 600, 2,
          "[\"600\",\"1\"],[\"599\",\"1\"]]"); /* in the place of a former one */
    check(6, "A-PERP", 700, 2, "[\"600\",\"1\"],[\"599\",\"1\"]]");
    check(6, "A-PERP", 800, 1, "[\"800\",\"1\"]]");
}

/* More texts than are kept: each is right, and the last ones are kept. */
static void many(void)
{
    char market[32], first[32];
    for (uint64_t i = 0; i < DEPTHS; i++) {
        (void)snprintf(market, sizeof market, "M%llu-PERP", (unsigned long long)i);
        (void)snprintf(first, sizeof first, "[\"%llu\",\"1\"]", (unsigned long long)(1000 + i));
        check(7, market, 1000 + i, 1, first);
        check(7, market, 5000 + i, 1, first);
    }
    check(7, "M0-PERP", 4000, 1, "[\"4000\",\"1\"]");
}

/* Lists of one caller are made each time. */
static void rows_of_callers(void)
{
    for (uint64_t cash = 1; cash < 3; cash++) {
        struct writer writer = writer_begin(text, sizeof text - 1);
        const struct row_balance row = { .cash_balance = (int64_t)cash };
        const struct reply reply = {
            .kind = QUERY_balance, .applied = 7, .row_count = 1, .row_bytes = sizeof row
        };
        shared_text_reply(&texts, &writer, &reply, (const uint8_t *)&row);
        text[writer_count(&writer)] = '\0';
        CHECK(strstr(text, cash == 1 ? "\"0.000001\"" : "\"0.000002\"") != NULL);
    }
}

int main(void)
{
    CHECK(shared_text_init(&texts) == 0);
    books();
    many();
    rows_of_callers();
    shared_text_free(&texts);
    return 0;
}
