/* The parts of perp bench: schedules, HDR histograms, corpora, answers, readings of /metrics. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "perp/bench/comparison.h"
#include "perp/bench/corpus.h"
#include "perp/bench/hdr.h"
#include "perp/bench/reading.h"
#include "perp/bench/schedule.h"
#include "perp/bench/stream_message.h"

/* ---- schedules ------------------------------------------------------------------------------- */

static uint64_t *make(enum schedule_kind kind, uint32_t burst, uint64_t seed, uint32_t *count)
{
    struct schedule schedule = { .kind = kind,
                                 .rate_per_s = 3000,
                                 .length_ns = UINT64_C(2000000000),
                                 .burst = burst,
                                 .seed = seed };
    uint64_t *due_ns = schedule_make(&schedule, 100000, count);

    for (uint32_t i = 1; i < *count; i++)
        CHECK(due_ns[i - 1] <= due_ns[i]);
    CHECK(*count == 0 || due_ns[*count - 1] < schedule.length_ns);
    return due_ns;
}

static void check_schedules(void)
{
    uint32_t count, again;
    uint64_t *due_ns = make(SCHEDULE_constant, 1, 1, &count);

    CHECK(count == 6000);
    for (uint32_t i = 0; i < count; i++)
        CHECK(due_ns[i] == (uint64_t)(i * 1e9 / 3000));
    free(due_ns);

    due_ns = make(SCHEDULE_bursts, 25, 1, &count);
    CHECK(count == 6000 || count == 6025); /* rounding of the last burst's time */
    for (uint32_t i = 0; i < count; i++)
        CHECK(due_ns[i] == due_ns[i - i % 25] && (i < 25 || due_ns[i] > due_ns[i - 25]));
    free(due_ns);

    /* 6,000 of a Poisson process: the deviation of the count is 77, of the mean distance 1.3 %; the
     * share of distances above the mean is 1/e. */
    due_ns = make(SCHEDULE_poisson, 1, 7, &count);
    CHECK(count > 6000 - 5 * 77 && count < 6000 + 5 * 77);
    uint32_t above = 0;
    for (uint32_t i = 1; i < count; i++)
        above += due_ns[i] - due_ns[i - 1] > 333333;
    CHECK(fabs((double)above / count - exp(-1)) < 0.035);
    uint64_t *same = make(SCHEDULE_poisson, 1, 7, &again);
    CHECK(again == count && memcmp(same, due_ns, count * sizeof *same) == 0);
    free(same);
    same = make(SCHEDULE_poisson, 1, 8, &again);
    CHECK(memcmp(same, due_ns, 100 * sizeof *same) != 0);
    free(same);
    free(due_ns);
    CHECK(make(SCHEDULE_closed, 1, 1, &count) == NULL && count == 0);
}

/* ---- histograms ------------------------------------------------------------------------------ */

static void check_histogram(void)
{
    static struct hdr hdr;
    static const struct {
        uint64_t value, greatest; /* of its class, by HdrHistogram's layout */
    } rows[] = { { 0, 0 },       { 1, 1 },       { 2047, 2047 },       { 2048, 2049 },
                 { 4095, 4095 }, { 4096, 4099 }, { 1000000, 1000447 }, { 123456789, 123469823 } };

    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        hdr_clear(&hdr);
        hdr_add(&hdr, rows[i].value);
        hdr_add(&hdr, HDR_MOST_NS * 2);
        CHECK(hdr_quantile(&hdr, 0.5) == rows[i].greatest);
        CHECK(hdr_quantile(&hdr, 1) == HDR_MOST_NS && hdr.max == HDR_MOST_NS);
    }
    hdr_clear(&hdr);
    CHECK(hdr_quantile(&hdr, 0.5) == 0);
    for (uint64_t i = 1; i <= 1000; i++)
        hdr_add(&hdr, i);
    CHECK(hdr_quantile(&hdr, 0) == 1 && hdr_quantile(&hdr, 0.5) == 500);
    CHECK(hdr_quantile(&hdr, 0.99) == 990 && hdr_quantile(&hdr, 0.9991) == 1000);
    CHECK(hdr.count == 1000 && hdr.sum == 500500);
}

/* ---- corpora --------------------------------------------------------------------------------- */

static bool reads(const char *text, size_t count)
{
    char path[] = "/tmp/test_bench_corpus_XXXXXX", error[256];
    struct corpus corpus;
    int file = mkstemp(path);

    CHECK(file >= 0 && write(file, text, count) == (ssize_t)count && close(file) == 0);
    bool is_read = corpus_read(&corpus, path, error);
    CHECK(is_read || (corpus.items == NULL && strstr(error, path) != NULL));
    unlink(path);
    corpus_free(&corpus);
    return is_read;
}

static void check_corpora(void)
{
    static const char good[] = "perp-corpus 1 2 1700000000000 10.000\n"
                               "place 0 3\na\nb\nread 100000 1\nx\n";
    char path[] = "/tmp/test_bench_corpus_XXXXXX", error[256], text[sizeof good + 8];
    struct corpus corpus = { .begin_unix_ms = 1700000000000, .rate_per_s = 10 };
    struct load_request request;
    int file = mkstemp(path);

    CHECK(file >= 0 && close(file) == 0);
    CHECK(corpus_add(&corpus, CORPUS_place, 0, "a\nb", 3));
    CHECK(corpus_add(&corpus, CORPUS_read, 100000000, "x", 1));
    CHECK(corpus_write(&corpus, path, error));
    FILE *in = fopen(path, "r");
    CHECK(in != NULL && fread(text, 1, sizeof text, in) == sizeof good - 1);
    CHECK(memcmp(text, good, sizeof good - 1) == 0 && fclose(in) == 0);
    corpus_free(&corpus);
    CHECK(corpus_read(&corpus, path, error) && corpus.count == 2 && corpus.rate_per_s == 10);
    CHECK(corpus.begin_unix_ms == 1700000000000 && corpus.items[1].due_ns == 100000000);
    corpus_request(&corpus, 0, &request);
    CHECK(request.count == 3 && memcmp(request.bytes, "a\nb", 3) == 0 && !request.is_read);
    corpus_request(&corpus, 1, &request);
    CHECK(request.count == 1 && request.is_read && request.kind == CORPUS_read);
    corpus_free(&corpus);
    unlink(path);
    CHECK(!corpus_read(&corpus, path, error));

    CHECK(reads(good, sizeof good - 1));
    for (size_t cut = 0; cut < sizeof good - 1; cut++)
        CHECK(!reads(good, cut));
    static const char *const bad[] = {
        "perp-corpus 2 1 1 1\nplace 0 1\na\n",
        "perp-corpus 1 0 1 1\n",
        "perp-corpus 1 1 1 0\nplace 0 1\na\n",
        "perp-corpus 1 1 1 1\nbuy 0 1\na\n",
        "perp-corpus 1 1 1 1\nplace 0 0\n\n",
        "perp-corpus 1 1 1 1\nplace 0 2049\na\n",
        "perp-corpus 1 1 1 1\nplace 0 1\na\nb",
        "perp-corpus 1 2000001 1 1\nplace 0 1\na\n",
        "perp-corpus 1 2 1 1\nplace 5 1\na\nplace 4 1\na\n",
        "perp-corpus 1 1 99999999999999999999 1\nplace 0 1\na\n",
    };
    for (size_t i = 0; i < CC_COUNT(bad); i++)
        CHECK(!reads(bad[i], strlen(bad[i])));
}

/* ---- answers --------------------------------------------------------------------------------- */

/* An answer of this status line, type and body. */
static struct answer take(const char *status, const char *type, const char *body, size_t count,
                          bool is_read, struct outcomes *outcomes)
{
    char text[512];
    struct answer answer;
    size_t head = (size_t)snprintf(text, sizeof text,
                                   "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n",
                                   status, type, count);

    memcpy(text + head, body, count);
    memcpy(text + head + count, "HTTP", 5); /* the next one follows */
    for (size_t part = 0; part < head + count; part++)
        CHECK(answer_bytes(text, part) == 0);
    CHECK(answer_bytes(text, head + count + 4) == head + count);
    answer_accept(&answer, text, head + count, is_read, outcomes);
    return answer;
}

static const char *word(const struct outcomes *outcomes, const struct answer *answer)
{
    return outcomes->words[answer->outcome];
}

static void check_answers(void)
{
    static const char JSON[] = "application/json", OK[] = "200 OK";
    static const char full[] = "{\"status\":\"insufficient_margin_to_place\",\"timing_ns\":{"
                               "\"verified\":4100,\"sequenced\":5200,\"matched\":5500,"
                               "\"ack\":9999999999}}";
    static const char problem[] = "{\"status\":503,\"code\":\"overloaded\"}";
    static const char read[] = "{\"status\":\"OPEN\"}";
    static struct outcomes outcomes;
    char binary[64] = { 0 };

    outcomes_init(&outcomes);
    struct answer answer = take(OK, JSON, full, strlen(full), false, &outcomes);
    CHECK(answer.outcome == STATUS_insufficient_margin_to_place && answer.http == 200);
    CHECK(answer.stage_ns[ANSWER_STAGE_verified] == 4100);
    CHECK(answer.stage_ns[ANSWER_STAGE_sequenced] == 5200);
    CHECK(answer.stage_ns[ANSWER_STAGE_matched] == 5500);
    CHECK(answer.stage_ns[ANSWER_STAGE_ack] == UINT32_MAX);
    answer = take("503 Busy", JSON, problem, strlen(problem), false, &outcomes);
    CHECK(strcmp(word(&outcomes, &answer), "overloaded") == 0 && answer.http == 503);
    answer = take("404 No", JSON, problem, strlen(problem), true, &outcomes);
    CHECK(strcmp(word(&outcomes, &answer), "overloaded") == 0 && answer.http == 404);
    answer = take(OK, JSON, read, strlen(read), true, &outcomes);
    CHECK(strcmp(word(&outcomes, &answer), "read") == 0);
    answer = take(OK, JSON, "{}", 2, false, &outcomes);
    CHECK(answer.outcome == outcomes.unreadable);

    cc_store16(binary, STATUS_self_trade_prevention);
    binary[3] = 1;
    cc_store32(binary + 56, 71);
    cc_store32(binary + 60, 72);
    answer = take(OK, "application/octet-stream", binary, 64, false, &outcomes);
    CHECK(answer.outcome == STATUS_self_trade_prevention);
    CHECK(answer.stage_ns[ANSWER_STAGE_verified] == 71);
    CHECK(answer.stage_ns[ANSWER_STAGE_matched] == 72 && answer.stage_ns[ANSWER_STAGE_ack] == 0);
    cc_store16(binary, STATUS_COUNT);
    answer = take(OK, "application/octet-stream", binary, 64, false, &outcomes);
    CHECK(answer.outcome == outcomes.unreadable);

    for (char text[8] = "w"; outcomes.count < OUTCOMES_MAX;) {
        snprintf(text, sizeof text, "w%u", outcomes.count);
        CHECK(outcomes_number(&outcomes, text, strlen(text)) == outcomes.count - 1);
    }
    CHECK(outcomes_number(&outcomes, "one more", 8) == outcomes.other);
    CHECK(outcomes_number(&outcomes, "overloaded", 10) != outcomes.other);
}

/* ---- readings -------------------------------------------------------------------------------- */

static void check_readings(void)
{
    char then_text[] = "\nlatency_bucket{stage=\"a\",le=\"10\"} 1\n"
                       "latency_bucket{stage=\"a\",le=\"20\"} 1\n"
                       "latency_bucket{stage=\"a\",le=\"+Inf\"} 1\ncount 5\n";
    char now_text[] = "\nlatency_bucket{stage=\"a\",le=\"10\"} 51\n"
                      "latency_bucket{stage=\"a\",le=\"20\"} 100\n"
                      "latency_bucket{stage=\"a\",le=\"+Inf\"} 101\ncount 9\n"
                      "info{x=\"1\",commit=\"abc\"} 1\nother{commit=\"no\"} 1\n";
    struct reading then = { then_text }, now = { now_text }, none = { NULL };
    char text[READING_NAME_MAX];
    uint64_t count;
    double value;

    CHECK(reading_value(&now, "count", &value) && value == 9);
    CHECK(!reading_value(&now, "coun", &value) && !reading_value(&none, "count", &value));
    CHECK(reading_quantile(&then, &now, "latency", "stage=\"a\"", 0.5, &count) == 10);
    CHECK(count == 100);
    CHECK(reading_quantile(&then, &now, "latency", "stage=\"a\"", 0.99, &count) == 20);
    CHECK(reading_quantile(&then, &now, "latency", "stage=\"a\"", 1, &count) < 0);
    CHECK(reading_quantile(&now, &now, "latency", "stage=\"a\"", 0.5, &count) < 0 && count == 0);
    CHECK(reading_quantile(&then, &now, "latency", "stage=\"b\"", 0.5, &count) < 0);
    CHECK(reading_quantile(&none, &now, "latency", "stage=\"a\"", 0.5, &count) < 0);
    CHECK(reading_label(&now, "info", "commit", text, sizeof text) && strcmp(text, "abc") == 0);
    CHECK(!reading_label(&now, "info", "build", text, sizeof text));
    CHECK(reading_next(&now, "latency_bucket", 2, text) && strstr(text, "+Inf") != NULL);
    CHECK(!reading_next(&now, "latency_bucket", 3, text));
}

/* ---- comparisons ----------------------------------------------------------------------------- */

static void check_comparisons(void)
{
    double a[] = { 100, 200, 100, 100, 100 }, slower[] = { 110, 220, 112, 114, 108 };
    double mixed[] = { 90, 220, 95, 110, 100 };
    struct comparison found = comparison_make(a, slower, 5, 1);

    CHECK(found.median_a == 100 && found.median_b == 112);
    CHECK(fabs(found.ratio - 1.1) < 1e-9);
    CHECK(fabs(found.p_value - 2 / 32.0) < 1e-9); /* five of five */
    CHECK(found.low >= 1.08 && found.high <= 1.14 && found.low < found.high);
    CHECK(comparison_is_worse(&found, false, 0.05) && !comparison_is_worse(&found, false, 0.12));
    CHECK(!comparison_is_worse(&found, true, 0) && comparison_is_better(&found, true));
    CHECK(!comparison_is_better(&found, false));
    found = comparison_make(slower, a, 5, 1);
    CHECK(comparison_is_worse(&found, true, 0.05) && !comparison_is_worse(&found, true, 0.2));
    CHECK(comparison_is_better(&found, false));
    double even[] = { 100, 100, 100, 100, 100 }, fewer[] = { 90, 95, 80, 100, 100 };
    found = comparison_make(even, fewer, 5, 1);
    CHECK(fabs(found.p_value - 2 / 8.0) < 1e-9); /* three of three */
    found = comparison_make(a, mixed, 5, 1);
    CHECK(fabs(found.p_value - 1) < 1e-9); /* two of four; equal ones do not count */
    for (int more = 0; more < 2; more++)
        CHECK(!comparison_is_worse(&found, more, 0) && !comparison_is_better(&found, more));
}

/* ---- messages of a stream -------------------------------------------------------------------- */

/* A frame of the server's: RFC 6455, 5.2. */
static size_t server_frame(char *out, uint8_t first, const char *text)
{
    size_t count = strlen(text), head = count < 126 ? 2 : 4;

    out[0] = (char)first;
    out[1] = (char)(count < 126 ? count : 126);
    if (head == 4) {
        out[2] = (char)(count >> 8);
        out[3] = (char)count;
    }
    memcpy(out + head, text, count);
    return head + count;
}

static void check_stream_messages(void)
{
    static const char envelope[] =
        "{\"payload\":\"AQAAAAAAAAABAAAAAAAAAAEAAAAAAAAAAQAAAAAAAAABAAAAAAAAAAEAAAAAAAAA\","
        "\"signature\":\"AQAAAAAAAAABAAAAAAAAAAEAAAAAAAAAAQAAAAAAAAABAAAAAAAAAAEAAAAAAAAA\"}";
    static const char ack[] =
        "{\"op\":\"signed\",\"id\":41,\"status\":\"request_completed\",\"sequence\":9,"
        "\"timing_ns\":{\"verified\":11,\"sequenced\":12,\"matched\":13,\"ack\":14}}";
    static struct outcomes outcomes;
    uint8_t bytes[1024];
    char frames[1024];
    struct answer answer;
    uint64_t id = 0;

    outcomes_init(&outcomes);
    size_t count =
        stream_message_write(bytes, sizeof bytes, envelope, strlen(envelope), 4711, true);
    CHECK(bytes[0] == 0x81 && bytes[1] == (0x80 | 126));
    CHECK(count == 8 + (size_t)(bytes[2] << 8 | bytes[3]) && cc_load32(bytes + 4) == 0);
    CHECK(memcmp(bytes + 8, "{\"op\":\"signed\",\"id\":4711,\"ack\":\"full\",\"payload\"", 45) ==
          0);
    CHECK(bytes[count - 1] == '}' && stream_message_id(bytes) == 4711);

    count = server_frame(frames, 0x81, ack);
    for (size_t part = 0; part < count; part++)
        CHECK(stream_message_bytes(frames, part) == 0);
    CHECK(stream_message_bytes(frames, count) == count);
    CHECK(stream_message_accept(&answer, frames, count, &outcomes, &id) == STREAM_MESSAGE_ANSWER);
    CHECK(id == 41 && answer.http == 200 && answer.outcome == STATUS_request_completed);
    CHECK(answer.stage_ns[ANSWER_STAGE_verified] == 11 && answer.stage_ns[ANSWER_STAGE_ack] == 14);

    count =
        server_frame(frames, 0x81,
                     "{\"op\":\"signed\",\"id\":42,\"problem\":{\"type\":\"urn:x\",\"status\":429,"
                     "\"code\":\"rate_limited\"}}");
    CHECK(stream_message_accept(&answer, frames, count, &outcomes, &id) == STREAM_MESSAGE_ANSWER);
    CHECK(id == 42 && answer.http == 429 && answer.stage_ns[ANSWER_STAGE_ack] == 0);
    CHECK(strcmp(outcomes.words[answer.outcome], "rate_limited") == 0);

    count = server_frame(frames, 0x81, "{\"channel\":\"status\",\"type\":\"heartbeat\"}");
    CHECK(stream_message_accept(&answer, frames, count, &outcomes, &id) == STREAM_MESSAGE_OTHER);
    count = server_frame(frames, 0x88, "");
    CHECK(count == 2 && stream_message_bytes(frames, count) == 2);
    CHECK(stream_message_accept(&answer, frames, count, &outcomes, &id) == STREAM_MESSAGE_END);
}

int main(void)
{
    check_stream_messages();
    check_schedules();
    check_histogram();
    check_corpora();
    check_answers();
    check_readings();
    check_comparisons();
    return 0;
}
