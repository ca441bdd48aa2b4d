/* What a trader of the demo believes of one order when answers are lost, come late or settle
 * nothing: an order is counted once when there is one, and never else (wire.md W5: an id is
 * executed at most once; request_dropped and retry_required leave it unused). */
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "perp_demo/pause.h"
#include "perp_demo/statement.h"

enum {
    SIZE = 100000,
    PRICE = 1000000,
    PATIENCE_MS = 20000,
    SHORT_MS = 200,
    BODY_MAX = 4096,
    URL_BYTES = 128
};

/* What has come so far, and what the exchange says to it: HTTP status and body; status 0: it closes
 * the connection instead. */
struct seen {
    unsigned connection; /* 1, 2 ... */
    unsigned posts;      /* with this one, if it is one */
};

struct said {
    unsigned status;
    const char *body; /* old_state: of a node of a cluster that does not lead */
};

static const char old_state[] = "{\"order_status\":\"REJECTED\",\"filled_size\":\"0\","
                                "\"average_price\":null,\"remaining_size\":\"0\","
                                "\"price\":\"100000\"}";

/* What is asked for: POST, GET /orders/{id}, GET /requests/{id}. */
enum kind { PLACEMENT, ORDER, REQUEST };

typedef struct said script(const struct seen *seen, enum kind kind);

static const struct said lost,
    done = { 200, "{\"status\":\"request_completed\",\"processed_at_ns\":1,\"sequence\":7}" },
    refused = { 200, "{\"status\":\"rejected_post_only_would_cross_book\",\"processed_at_ns\":1,"
                     "\"sequence\":7}" },
    retry = { 200, "{\"status\":\"retry_required\",\"processed_at_ns\":1}" },
    dropped = { 200, "{\"status\":\"request_dropped\",\"processed_at_ns\":1}" },
    was_done = { 200, "{\"status\":\"duplicate_request_id\",\"processed_at_ns\":2,"
                      "\"original_status\":\"request_completed\","
                      "\"original_processed_at_ns\":1}" },
    was_refused = { 200, "{\"status\":\"duplicate_request_id\",\"processed_at_ns\":2,"
                         "\"original_status\":\"rejected_post_only_would_cross_book\","
                         "\"original_processed_at_ns\":1}" },
    lapsed = { 400, "{\"type\":\"urn:perps:problem:request_timestamp_out_of_window\","
                    "\"title\":\"Bad Request\",\"status\":400,"
                    "\"code\":\"request_timestamp_out_of_window\",\"detail\":\"too old\","
                    "\"server_time_ms\":1}" },
    not_ready = { 503, "{\"type\":\"urn:perps:problem:not_ready\",\"title\":\"x\",\"status\":503,"
                       "\"code\":\"not_ready\",\"detail\":\"recovering\"}" },
    elsewhere = { 421, "{\"type\":\"urn:perps:problem:not_leader\",\"title\":\"x\",\"status\":421,"
                       "\"code\":\"not_leader\",\"detail\":\"x\"}" },
    unknown = { 404, "{\"type\":\"urn:perps:problem:order_not_found\",\"title\":\"x\","
                     "\"status\":404,\"code\":\"order_not_found\",\"detail\":\"x\"}" },
    filled = { 200, "{\"order_status\":\"FILLED\",\"filled_size\":\"1\","
                    "\"average_price\":\"100000\",\"remaining_size\":\"0\",\"price\":\"100000\"}" },
    rejected = { 200, "{\"order_status\":\"REJECTED\",\"filled_size\":\"0\","
                      "\"average_price\":null,\"remaining_size\":\"0\",\"price\":\"100000\"}" };

/* ---- the exchange, a child ------------------------------------------------------------------- */

/* Reads a head and its body; the method and path of the first line. False: the client is gone. */
static bool hear(FILE *stream, char line[256], char body[BODY_MAX], size_t *count)
{
    char header[512];
    *count = 0;
    if (fgets(line, 256, stream) == NULL)
        return false;
    while (fgets(header, sizeof header, stream) != NULL && strcmp(header, "\r\n") != 0)
        if (strncasecmp(header, "Content-Length:", 15) == 0)
            *count = strtoul(header + 15, NULL, 10);
    CHECK(*count <= BODY_MAX);
    return fread(body, 1, *count, stream) == *count;
}

/* Answers until the client goes, or the script loses the connection. All requests that are signed
 * are one placement: the same bytes. */
static void converse(int fd, script *run, struct seen *seen)
{
    static char first[BODY_MAX];
    char line[256], body[BODY_MAX];
    size_t count;
    FILE *from = fdopen(fd, "r"), *to = fdopen(dup(fd), "w");
    while (hear(from, line, body, &count)) {
        enum kind kind = strncmp(line, "POST ", 5) == 0            ? PLACEMENT
                         : strstr(line, "/api/v1/orders/") != NULL ? ORDER
                                                                   : REQUEST;
        if (kind == PLACEMENT && seen->posts++ == 0)
            memcpy(first, body, count);
        CHECK(kind != PLACEMENT || memcmp(first, body, count) == 0);
        struct said said = run(seen, kind);
        if (said.status == 0)
            break;
        fprintf(to, "HTTP/1.1 %u X\r\nContent-Type: application/json\r\n", said.status);
        if (said.body == old_state)
            fprintf(to, "X-Staleness-Ms: 5\r\n");
        fprintf(to, "Content-Length: %zu\r\n\r\n%s", strlen(said.body), said.body);
        fflush(to);
    }
    shutdown(fd, SHUT_WR); /* what was said is read before the connection ends */
    while (fgetc(from) != EOF)
        ;
    fclose(from);
    fclose(to);
}

static pid_t serve(script *run, char url[URL_BYTES])
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t count = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(listener >= 0 && bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(listen(listener, 1) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&address, &count) == 0);
    snprintf(url, URL_BYTES, "http://127.0.0.1:%u", ntohs(address.sin_port));
    pid_t pid = fork();
    if (pid == 0) {
        struct seen seen = { 0 };
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) {
            int fd = accept(listener, NULL, NULL);
            CHECK(fd >= 0);
            seen.connection++;
            converse(fd, run, &seen);
        }
    }
    close(listener);
    return pid;
}

/* ---- a trader -------------------------------------------------------------------------------- */

/* A list of two nodes: the same place twice, whose connections are those of one and the other. */
static void make_list(char url[URL_BYTES])
{
    char one[URL_BYTES / 2];

    snprintf(one, sizeof one, "%.40s", url);
    snprintf(url, URL_BYTES, "%s,%s", one, one);
}

/* Places one order, twice if so asked, reads it until it has ended, and asks for its receipts. */
static void trade(script *run, uint32_t patience_ms, bool repeats, bool is_list, struct bot *bot,
                  struct statement_proof *proof)
{
    char url[URL_BYTES];
    struct bot_wish wish = { .quantity = SIZE, .price = PRICE, .expiry = UINT64_MAX };
    pid_t pid = serve(run, url);
    if (is_list)
        make_list(url);
    memset(bot, 0, sizeof *bot);
    snprintf(bot->name, sizeof bot->name, "bot");
    bot->records[0] = (struct instrument){
        .asset_id = 1, .price_decimals = 1, .size_decimals = 5, .tick = 1, .lot = 1
    };
    CHECK(key_file_make(&bot->key, SIGNATURE_ED25519) == 0);
    CHECK(courier_init(&bot->courier, url, "key", patience_ms));
    bot_place(bot, 0, &wish);
    if (repeats)
        bot_repeat(bot, 0, &wish);
    bot_read(bot, 0);
    bot_flush(bot);
    for (uint32_t tries = 0; bot->slots[0].used && pause_before(tries); tries++) {
        bot_read(bot, 0);
        bot_flush(bot);
    }
    statement_prove(bot, proof);
    client_close(&bot->courier.client);
    CHECK(waitpid(pid, NULL, WNOHANG) == 0); /* no CHECK of the exchange's failed */
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static struct said say_done(const struct seen *seen, enum kind kind)
{
    (void)seen;
    return kind == ORDER ? filled : done;
}

static struct said say_refused(const struct seen *seen, enum kind kind)
{
    (void)seen;
    return kind == ORDER ? rejected : refused;
}

/* Executed, then killed. */
static struct said say_lost_done(const struct seen *seen, enum kind kind)
{
    if (seen->connection == 1)
        return lost;
    return kind == PLACEMENT ? was_done : say_done(seen, kind);
}

static struct said say_lost_unused(const struct seen *seen, enum kind kind)
{
    return seen->connection < 3 ? lost : say_done(seen, kind);
}

/* The answer to the repetition is lost. */
static struct said say_done_lost(const struct seen *seen, enum kind kind)
{
    if (kind == PLACEMENT && seen->posts == 2)
        return lost;
    return kind == PLACEMENT && seen->posts > 2 ? was_done : say_done(seen, kind);
}

/* Executed and refused, then killed; what comes back recovers for long. */
enum { LONG_POSTS = 150 };

static struct said say_refused_then_recovers(const struct seen *seen, enum kind kind)
{
    if (seen->connection == 1)
        return lost;
    if (seen->posts <= LONG_POSTS)
        return kind == PLACEMENT ? retry : not_ready;
    return kind == PLACEMENT ? was_refused : say_refused(seen, kind);
}

/* It becomes ready between two requests of a pipeline: only what was asked behind the placement may
 * speak of the order. */
static struct said say_ready_between(const struct seen *seen, enum kind kind)
{
    if (seen->connection == 1)
        return lost;
    if (kind == PLACEMENT)
        return seen->posts == 2 ? retry : done;
    return seen->posts == 2 ? unknown : say_done(seen, kind);
}

/* Its id is too old when it comes again. */
static struct said say_done_lapsed(const struct seen *seen, enum kind kind)
{
    if (seen->connection == 1)
        return lost;
    return kind == PLACEMENT ? lapsed : say_done(seen, kind);
}

static struct said say_refused_lapsed(const struct seen *seen, enum kind kind)
{
    if (seen->connection == 1)
        return lost;
    return kind == PLACEMENT ? lapsed : say_refused(seen, kind);
}

static struct said say_unused_lapsed(const struct seen *seen, enum kind kind)
{
    if (seen->connection == 1)
        return lost;
    return kind == PLACEMENT ? lapsed : unknown;
}

/* It is never ready for writes while the trader waits; it had refused. */
static struct said say_refused_never_ready(const struct seen *seen, enum kind kind)
{
    if (seen->connection == 1)
        return lost;
    return kind == PLACEMENT ? retry : say_refused(seen, kind);
}

/* No connection is lost: the first of two is dropped, the second executed. */
static struct said say_dropped_done(const struct seen *seen, enum kind kind)
{
    if (kind == PLACEMENT)
        return seen->posts == 1 ? dropped : done;
    return say_done(seen, kind);
}

static struct said say_done_duplicate(const struct seen *seen, enum kind kind)
{
    if (kind == PLACEMENT)
        return seen->posts == 1 ? done : was_done;
    return say_done(seen, kind);
}

static struct said say_refused_duplicate(const struct seen *seen, enum kind kind)
{
    if (kind == PLACEMENT)
        return seen->posts == 1 ? refused : was_refused;
    return say_refused(seen, kind);
}

static struct said say_dropped(const struct seen *seen, enum kind kind)
{
    (void)seen;
    return kind == PLACEMENT ? dropped : unknown;
}

/* The first node does not lead: nothing was executed. */
static struct said say_elsewhere(const struct seen *seen, enum kind kind)
{
    return seen->connection == 1 ? elsewhere : say_done(seen, kind);
}

/* Nor does it know whether the order will come to count: it did. */
static struct said say_outcome_unknown(const struct seen *seen, enum kind kind)
{
    if (seen->connection == 1)
        return not_ready;
    return kind == PLACEMENT ? was_done : say_done(seen, kind);
}

/* The leader that executed the order is none any more: what it shows is not the newest. */
static struct said say_replica_reads(const struct seen *seen, enum kind kind)
{
    if (seen->connection == 1 && kind != PLACEMENT)
        return (struct said){ 200, old_state };
    return say_done(seen, kind);
}

/* What the trader must believe: whether there is an order (it is filled then), how many answers
 * were lost, and how many of these requests were executed before, when they were sent again, or
 * never, as GET /requests/{id} says. */
static const struct row {
    int line;
    const char *name;
    script *run;
    uint32_t patience_ms;
    bool repeats, is_order;
    unsigned unanswered, before, after, unused;
    bool is_list;
} rows[] = {
#define ROW(...)              \
    {                         \
        __LINE__, __VA_ARGS__ \
    }
    ROW("done", say_done, 0, false, true, 0, 0, 0, 0, false),
    ROW("refused", say_refused, 0, false, false, 0, 0, 0, 0, false),
    ROW("dropped", say_dropped, 0, false, false, 0, 0, 0, 0, false),
    ROW("executed, lost", say_lost_done, PATIENCE_MS, false, true, 1, 1, 0, 0, false),
    ROW("lost twice", say_lost_unused, PATIENCE_MS, false, true, 1, 0, 1, 0, false),
    ROW("recovers for long", say_refused_then_recovers, PATIENCE_MS, false, false, 1, 1, 0, 0,
        false),
    ROW("ready between", say_ready_between, PATIENCE_MS, false, true, 1, 0, 1, 0, false),
    ROW("executed, too old", say_done_lapsed, PATIENCE_MS, false, true, 1, 1, 0, 0, false),
    ROW("refused, too old", say_refused_lapsed, PATIENCE_MS, false, false, 1, 1, 0, 0, false),
    ROW("unused, too old", say_unused_lapsed, PATIENCE_MS, false, false, 1, 0, 0, 1, false),
    ROW("never ready", say_refused_never_ready, SHORT_MS, false, false, 1, 1, 0, 0, false),
    ROW("twice", say_done_duplicate, 0, true, true, 0, 0, 0, 0, false),
    ROW("refused twice", say_refused_duplicate, 0, true, false, 0, 0, 0, 0, false),
    ROW("dropped, then done", say_dropped_done, 0, true, true, 0, 0, 0, 0, false),
    ROW("executed, both lost", say_lost_done, PATIENCE_MS, true, true, 2, 2, 0, 0, false),
    ROW("done, its repetition lost", say_done_lost, PATIENCE_MS, true, true, 1, 1, 0, 0, false),
    ROW("elsewhere", say_elsewhere, PATIENCE_MS, false, true, 1, 0, 1, 0, true),
    ROW("elsewhere, both", say_elsewhere, PATIENCE_MS, true, true, 2, 0, 2, 0, true),
    ROW("outcome unknown", say_outcome_unknown, PATIENCE_MS, false, true, 1, 1, 0, 0, true),
    ROW("read elsewhere", say_replica_reads, PATIENCE_MS, false, true, 0, 0, 0, 0, true),
    ROW("killed, another leads", say_lost_done, PATIENCE_MS, false, true, 1, 1, 0, 0, true),
    ROW("refused, too old, both", say_refused_lapsed, PATIENCE_MS, true, false, 2, 2, 0, 0, false),
};

int main(void)
{
    for (const struct row *row = rows; row < rows + CC_COUNT(rows); row++) {
        static struct bot bot;
        struct statement_proof proof;
        trade(row->run, row->patience_ms, row->repeats, row->is_list, &bot, &proof);
        const struct receipts *receipts = &bot.courier.receipts;
        CHECK_ROW(row, bot.accepted_orders == row->is_order);
        CHECK_ROW(row, !bot.slots[0].used && bot.problems == 0);
        CHECK_ROW(row, bot.books[0].position == (row->is_order ? SIZE : 0));
        CHECK_ROW(row, bot.courier.unanswered == row->unanswered);
        CHECK_ROW(row,
                  receipt_count(receipts, RECEIPT_BEFORE) + proof.untold_executed == row->before);
        CHECK_ROW(row, receipt_count(receipts, RECEIPT_AFTER) == row->after);
        CHECK_ROW(row, proof.untold_unused == row->unused);
        CHECK_ROW(row, proof.missing == 0 && proof.different == 0 && proof.found == proof.asked);
        CHECK_ROW(row, proof.asked == receipt_first(receipts) + row->before + row->after);
    }
    return 0;
}
