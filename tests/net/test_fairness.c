/* A turn takes at most NET_TURN_REQUESTS requests (roles.md, Threads and budgets). A
 * connection whose requests wait for the next turn is not kept out by others that never stop, nor
 * keeps them out. Commands come before reads, and connections take turns. */
#include "check.h"
#include "net/entrance.h"
#include "net/fixture.h"
#include "net/stream_wire.h"

#define TIME "GET /api/v1/time HTTP/1.1\r\nHost: x\r\n\r\n"

enum { WAITING = 64, TURNS = 8, TEXT_MAX = 16384 };

static size_t repeat(char *text, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        memcpy(text + i * (sizeof TIME - 1), TIME, sizeof TIME - 1);
    return count * (sizeof TIME - 1);
}

/* Input that comes in pieces and outgrows its place is the same bytes afterwards, from its start on
 * and behind what was consumed; its bound refuses and changes nothing. */
static void grows_whole(struct fixture *fixture, struct protocol *protocol)
{
    enum { PIECE = 997, USED = 100 };
    struct conn_table *conns = &protocol->context.conns;
    static struct wire wires[2];
    uint32_t counts[2] = { 0, 0 };
    char piece[PIECE];

    for (int i = 0; i < 2; i++)
        wire_open(&wires[i], fixture, protocol, false);
    for (bool is_full = false; !is_full;) {
        for (int i = 0; i < 2; i++) {
            for (uint32_t k = 0; k < PIECE; k++)
                piece[k] = (char)((counts[i] + k) * 31 >> 3 ^ (uint32_t)i);
            if (!conn_input_append(conns, wires[i].conn, piece, PIECE))
                is_full = true;
            else
                counts[i] += PIECE;
            if (counts[i] == PIECE)
                conn_input_consume(conns, wires[i].conn, USED);
        }
    }
    for (int i = 0; i < 2; i++) {
        const char *input = conn_input(conns, wires[i].conn);
        CHECK(conn_input_bytes(wires[i].conn) == counts[i] - USED);
        CHECK(counts[i] - USED + PIECE > CONN_INPUT_BYTES && wires[i].conn->spilled);
        for (uint32_t k = 0; k < counts[i] - USED; k++)
            CHECK(input[k] == (char)((USED + k) * 31 >> 3 ^ (uint32_t)i));
        wire_free(&wires[i]);
    }
    CHECK(conns->spilled_count == 0);
}

/* Strangers whose requests wait for a slow signature fill all places for much input. One who sends
 * as much gets a place all the same: the address with the most of them loses its oldest. */
static void hoarders_yield(void)
{
    enum { MUCH = CONN_INPUT_KEEP + 1000, HOARDERS = CONN_SPILLED_MAX };
    static struct fixture fixture;
    static struct wire hoarders[HOARDERS], others[2];
    static char text[MUCH];
    struct conn_table *conns;

    memset(text, 'x', sizeof text);
    fixture_init(&fixture, true, 64);
    struct protocol *protocol = fixture_protocol(&fixture, 512);
    conns = &protocol->context.conns;
    for (int i = 0; i < 2; i++)
        wire_open(&others[i], &fixture, protocol, false);
    others[0].conn->address = 7;
    others[1].conn->address = 8;
    CHECK(conn_input_append(conns, others[0].conn, text, MUCH)); /* the oldest, but alone */
    for (int i = 0; i < HOARDERS; i++) {
        wire_open(&hoarders[i], &fixture, protocol, false);
        hoarders[i].conn->address = 9;
        CHECK(conn_input_append(conns, hoarders[i].conn, text, MUCH));
    }
    CHECK(hoarders[0].conn->last && conn_input_bytes(hoarders[0].conn) == 0);
    CHECK(conn_input_append(conns, others[1].conn, text, MUCH));
    CHECK(hoarders[1].conn->last && !hoarders[2].conn->last);
    for (int i = 0; i < 2; i++)
        CHECK(!others[i].conn->last && conn_input_bytes(others[i].conn) == MUCH);
    CHECK(conns->spilled_count == CONN_SPILLED_MAX);

    for (int i = 0; i < HOARDERS; i++)
        wire_free(&hoarders[i]);
    for (int i = 0; i < 2; i++)
        wire_free(&others[i]);
    CHECK(conns->spilled_count == 0);
    grows_whole(&fixture, protocol);
    fixture_protocol_free(protocol);
    fixture_free(&fixture);
}

static struct conn *comes(struct protocol *protocol, uint64_t address)
{
    if (!entrance_make_room(&protocol->context))
        return NULL;
    struct conn *conn = protocol_open(protocol, false);
    CHECK(conn != NULL);
    conn->address = address;
    if (entrance_admit(&protocol->context, conn))
        return conn;
    protocol_close(protocol, conn);
    return NULL;
}

/* Whether a connection of the address comes in; it goes again. */
static bool visits(struct protocol *protocol, uint64_t address)
{
    struct conn *conn = comes(protocol, address);
    if (conn != NULL)
        protocol_close(protocol, conn);
    return conn != NULL;
}

/* The table has 1,024 rows, of which 102 are kept, 51 of them for the other listener. When the
 * others are taken a newcomer gets a row of the address that holds most: of its connection that has
 * been idle longest, then of those that have begun a request, of one that proved a key last. Who
 * has proved a key comes in even when nobody is idle, with less than half of what is free: 18 of 7
 * leave 34. */
static void the_crowd_yields(void)
{
    enum { TABLE = 1024, CROWD = 906, FEW = 16, MORE = 17, LAST = CROWD + FEW - 1, BEGUN = 300 };
    static struct fixture fixture;
    struct conn *conns[CROWD + FEW + MORE];
    fixture_init(&fixture, true, 64);
    struct protocol *protocol = fixture_protocol(&fixture, TABLE);
    struct context *context = &protocol->context;
    for (int i = 0; i < CROWD + FEW; i++) {
        conns[i] = comes(protocol, i < CROWD ? 9 : i < LAST ? 100 + (uint64_t)i : 7);
        CHECK(conns[i] != NULL && !conns[0]->broken);
        conns[i]->pending_count = i < CROWD ? 0 : 1; /* those are not idle */
    }
    for (int i = BEGUN; i < CROWD; i++) /* more than are looked at for one newcomer */
        conn_time_start(&context->conns, conns[i], CONN_TIME_HEAD, context->now_ns);
    context_prove(context, conns[0]);
    CHECK(visits(protocol, 5));
    CHECK(!conns[0]->broken && conns[1]->broken && !conns[2]->broken);
    for (int i = 2; i < CROWD; i++)
        CHECK(visits(protocol, 5) && conns[i]->broken);
    CHECK(!conns[0]->broken);
    CHECK(visits(protocol, 5) && conns[0]->broken); /* the last of them */
    CHECK(!visits(protocol, 5)); /* nobody of them is left, and 5 is a stranger */
    context_prove(context, conns[LAST]);
    for (int i = CROWD + FEW; i < CROWD + FEW + MORE; i++) {
        conns[i] = comes(protocol, 7);
        CHECK(conns[i] != NULL);
        conns[i]->pending_count = 1;
    }
    CHECK(!visits(protocol, 7));
    for (int i = CROWD; i < CROWD + FEW + MORE; i++)
        CHECK(!conns[i]->broken);
    conns[CROWD]->address = 8;
    context_prove(context, conns[CROWD]);
    CHECK(visits(protocol, 8));
    for (int i = 0; i < CROWD + FEW + MORE; i++) {
        conns[i]->pending_count = 0;
        protocol_close(protocol, conns[i]);
    }
    CHECK(visits(protocol, 5));
    fixture_protocol_free(protocol);
    fixture_free(&fixture);
}

/* A table of 64 rows with 58 connections of one address, of which each gives way in its turn: first
 * the idle ones, the one quiet longest before the others; then those that have sent a part of a
 * request or wait for a token; never those for which something is under way, or to which an answer
 * was written in the last second. */
static void the_quiet_yield_first(void)
{
    enum { TABLE = 64, CROWD = 58 };
    static struct fixture fixture;
    static char answers[CONN_OUTPUT_PAUSE + 1];
    struct conn *conns[CROWD];
    fixture_init(&fixture, true, 64);
    fixture.config.output_pool_bytes = 1 << 20;
    struct protocol *protocol = fixture_protocol(&fixture, TABLE);
    struct context *context = &protocol->context;
    for (int i = 0; i < CROWD; i++) {
        conns[i] = comes(protocol, 9);
        CHECK(conns[i] != NULL);
        conns[i]->pending_count = i >= 7;
    }
    conn_time_start(&context->conns, conns[0], CONN_TIME_HEAD, context->now_ns);
    conns[1]->blocked = true;
    conns[1]->pause_ns = context->now_ns + 1;
    conns[2]->blocked = true; /* for a turn */
    conn_time_start(&context->conns, conns[2], CONN_TIME_HEAD, context->now_ns);
    conns[3]->blocked = true; /* behind its own answers */
    output_append(&context->outputs, &conns[3]->output, answers, sizeof answers, context->now_ns);
    conn_time_start(&context->conns, conns[4], CONN_TIME_IDLE, context->now_ns); /* heard from */
    CHECK(visits(protocol, 5) && conns[5]->broken && !conns[6]->broken);
    CHECK(visits(protocol, 5) && conns[6]->broken && !conns[4]->broken);
    CHECK(visits(protocol, 5) && conns[4]->broken);
    CHECK(visits(protocol, 5) && conns[0]->broken && !conns[1]->broken);
    CHECK(visits(protocol, 5) && conns[1]->broken);
    CHECK(!visits(protocol, 5) && !conns[2]->broken && !conns[3]->broken);
    char head[] = "GET /";
    protocol->budget = 1; /* its turn has come */
    protocol_receive(protocol, conns[2], head, sizeof head - 1);
    CHECK(!conns[2]->blocked && conns[2]->time == CONN_TIME_HEAD);
    CHECK(visits(protocol, 5) && conns[2]->broken && !conns[3]->broken);
    context->now_ns += CONN_SECOND_NS;
    output_append(&context->outputs, &conns[3]->output, "x", 1, context->now_ns);
    CHECK(!visits(protocol, 5) && !conns[3]->broken);
    context->now_ns += CONN_SECOND_NS;
    CHECK(visits(protocol, 5) && conns[3]->broken); /* it does not read */
    CHECK(!visits(protocol, 5));
    for (int i = 0; i < CROWD; i++) {
        conns[i]->pending_count = 0;
        output_clear(&context->outputs, &conns[i]->output);
        protocol_close(protocol, conns[i]);
    }
    fixture_protocol_free(protocol);
    fixture_free(&fixture);
}

/* A table of 64 rows with a connection of each of 58 addresses, which all hold as many. For each
 * newcomer the one goes that has been quiet longest, not the newest; one that is not idle neither
 * goes before an idle one nor makes a refusal. Who has two is first. */
static void equals_take_turns(void)
{
    enum { TABLE = 64, CROWD = 58, BUSY = 3, PROVED = 5, TOLD = 6, TWICE = 8 };
    static struct fixture fixture;
    struct conn *conns[CROWD + 3];
    fixture_init(&fixture, true, 64);
    struct protocol *protocol = fixture_protocol(&fixture, TABLE);
    struct context *context = &protocol->context;
    for (int i = 0; i < CROWD; i++)
        conns[i] = comes(protocol, 100 + (uint64_t)i);
    for (int i = 0; i < 2; i++) { /* both stay */
        conns[CROWD + i] = comes(protocol, 5 + (uint64_t)i);
        CHECK(conns[CROWD + i] != NULL && conns[i]->broken && !conns[i + 1]->broken);
        protocol_close(protocol, conns[i]);
    }
    CHECK(!conns[CROWD]->broken && !conns[CROWD + 1]->broken);
    conn_time_start(&context->conns, conns[2], CONN_TIME_IDLE, context->now_ns); /* heard from */
    conns[BUSY]->pending_count = 1;
    context_prove(context, conns[PROVED]);
    output_append(&context->outputs, &conns[TOLD]->output, "x", 1, context->now_ns);
    CHECK(visits(protocol, 7) && conns[4]->broken);
    CHECK(visits(protocol, 7) && conns[7]->broken && !conns[TWICE]->broken);
    conns[CROWD + 2] = comes(protocol, 100 + CROWD - 1); /* for the first that is idle */
    CHECK(conns[TWICE]->broken && !conns[CROWD - 1]->broken);
    CHECK(visits(protocol, 7) && conns[CROWD - 1]->broken && !conns[TWICE + 1]->broken);
    for (int i = TWICE + 1; i < CROWD - 1; i++)
        CHECK(visits(protocol, 7) && conns[i]->broken);
    CHECK(visits(protocol, 7) && conns[CROWD]->broken);
    CHECK(visits(protocol, 7) && conns[CROWD + 1]->broken && !conns[2]->broken);
    CHECK(visits(protocol, 7) && conns[2]->broken && !conns[CROWD + 2]->broken);
    CHECK(visits(protocol, 7) && conns[CROWD + 2]->broken && !conns[PROVED]->broken);
    CHECK(visits(protocol, 7) && conns[PROVED]->broken);
    CHECK(!visits(protocol, 7) && !conns[BUSY]->broken && !conns[TOLD]->broken);
    conns[BUSY]->pending_count = 0;
    output_clear(&context->outputs, &conns[TOLD]->output);
    for (int i = 2; i < CROWD + 3; i++)
        protocol_close(protocol, conns[i]);
    fixture_protocol_free(protocol);
    fixture_free(&fixture);
}

/* Two addresses hold most. Of 58 connections one has no answer on its way: it is found. */
static void the_last_of_equals_is_found(void)
{
    enum { TABLE = 64, CROWD = 58, QUIET = CROWD - 1 };
    static struct fixture fixture;
    struct conn *conns[CROWD];
    fixture_init(&fixture, true, 64);
    struct protocol *protocol = fixture_protocol(&fixture, TABLE);
    struct context *context = &protocol->context;
    for (int i = 0; i < CROWD; i++) {
        conns[i] = comes(protocol, 9 + (uint64_t)(i % 2));
        if (i != QUIET)
            output_append(&context->outputs, &conns[i]->output, "x", 1, context->now_ns);
    }
    CHECK(visits(protocol, 5) && conns[QUIET]->broken);
    CHECK(!visits(protocol, 5));
    for (int i = 0; i < CROWD; i++) {
        output_clear(&context->outputs, &conns[i]->output);
        protocol_close(protocol, conns[i]);
    }
    fixture_protocol_free(protocol);
    fixture_free(&fixture);
}

/* The addresses of each count are in the lists of that count of the kinds that they have. */
static void recount_addresses(const struct crowd *crowd, uint32_t capacity)
{
    for (uint32_t count = 1; count <= capacity; count++) {
        uint32_t rows = 0;
        for (uint32_t i = 0; i < capacity; i++)
            rows += crowd->rows[i].count == count;
        CHECK(crowd->counts[count].rows == rows);
        for (int kind = 0; kind < CROWD_KINDS; kind++) {
            const struct crowd_list *list = &crowd->counts[count].lists[kind];
            uint32_t have = 0, last = CONN_NONE;
            for (uint32_t i = 0; i < capacity; i++)
                have +=
                    crowd->rows[i].count == count && crowd->rows[i].lists[kind].head != CONN_NONE;
            for (uint32_t at = list->head; at != CONN_NONE; at = crowd->rows[at].links[kind].next) {
                CHECK(crowd->rows[at].count == count && have-- > 0);
                CHECK(crowd->rows[at].lists[kind].head != CONN_NONE);
                CHECK(crowd->rows[at].links[kind].previous == last);
                last = at;
            }
            CHECK(have == 0 && list->tail == last);
        }
    }
}

/* Counts and lists are those of what is counted, each connection in the list of its address and of
 * its kind, last the one that was placed last. */
static void recount(const struct crowd *crowd, struct conn *conns, uint32_t capacity,
                    const uint32_t *placed)
{
    uint32_t most = 0, listed = 0, counted = 0;
    for (uint32_t i = 0; i < capacity; i++) {
        uint32_t same = 0;
        if (!crowd_has(&conns[i]))
            continue;
        for (uint32_t k = 0; k < capacity; k++)
            same += crowd_has(&conns[k]) && conns[k].address == conns[i].address;
        const struct crowd_row *row = &crowd->rows[conns[i].crowd_row];
        CHECK(row->address == conns[i].address && row->count == same);
        most = same > most ? same : most;
        counted += conns[i].crowd_kind != CROWD_BUSY;
    }
    CHECK(crowd->most == most);
    recount_addresses(crowd, capacity);
    for (uint32_t i = 0; most > 0 && i < capacity; i++)
        for (int kind = 0; crowd->rows[i].count > 0 && kind < CROWD_KINDS; kind++)
            for (uint32_t at = crowd->rows[i].lists[kind].head, last = 0; at != CONN_NONE;
                 at = conns[at].crowd_next) {
                CHECK(conns[at].crowd_row == i && conns[at].crowd_kind == kind);
                CHECK(placed[at] > last);
                last = placed[at];
                listed++;
            }
    CHECK(listed == counted);
}

static void the_crowd_is_counted(void)
{
    enum { TABLE = 32, STEPS = 4000 };
    struct conn_table table;
    uint32_t placed[TABLE] = { 0 }, random = 7;
    CHECK(conn_table_init(&table, TABLE, (struct mix_key){ 3, 5 }) == 0);
    for (int i = 0; i < TABLE; i++)
        CHECK(conn_open(&table) != NULL);
    for (uint32_t step = 1; step <= STEPS; step++) {
        random = random * 1664525 + 1013904223;
        struct conn *conn = conn_at(&table, random >> 27);
        if (crowd_has(conn) && (random >> 20 & 3) == 0) {
            crowd_leave(&table.crowd, conn);
        } else if (crowd_has(conn)) {
            enum crowd_kind kind = (random >> 17) % (CROWD_KINDS + 1);
            crowd_queue(&table.crowd, conn, kind);
            placed[conn->index] = step;
        } else {
            conn->address = (random >> 12 & 7) * (step / 1000);
            crowd_enter(&table.crowd, conn);
            placed[conn->index] = step;
        }
        recount(&table.crowd, table.conns, TABLE, placed);
    }
    for (uint32_t i = 0; i < TABLE; i++)
        crowd_leave(&table.crowd, conn_at(&table, i));
    CHECK(table.crowd.most == 0);
    conn_table_free(&table);
}

/* The table has 128 rows, of which 12 are kept, and nobody is idle: 78 streams of an address and 38
 * of another have the rest. A stream of the first goes for an address that has at most half as many
 * then, one that has proved a key only for an address that has proved one. */
static void streams_yield(void)
{
    enum { TABLE = 128, MOST = 78, STREAMS = 116 };
    static struct fixture fixture;
    static struct wire wires[STREAMS];
    unsigned left = 0;
    fixture_init(&fixture, true, 64);
    fixture.config.stream_connections = STREAMS;
    struct protocol *protocol = fixture_protocol(&fixture, TABLE);
    for (int i = 0; i < STREAMS; i++) {
        open_stream(&wires[i], &fixture, protocol);
        wires[i].conn->address = i < MOST ? 9 : 8;
        CHECK(entrance_admit(&protocol->context, wires[i].conn));
    }
    CHECK(visits(protocol, 8) && wires[0].conn->broken); /* 39 beside 78 */
    CHECK(!visits(protocol, 8) && !wires[1].conn->broken);
    CHECK(visits(protocol, 5) && wires[1].conn->broken);
    for (int i = 2; i < MOST; i++)
        context_prove(&protocol->context, wires[i].conn);
    CHECK(!visits(protocol, 5) && !wires[2].conn->broken);
    wires[MOST].conn->address = 5;
    context_prove(&protocol->context, wires[MOST].conn);
    CHECK(visits(protocol, 5) && wires[2].conn->broken);
    wires[MOST].conn->address = 8;
    for (int i = 0; i < 2 * STREAMS; i++)
        CHECK(visits(protocol, 5)); /* who has most by then yields */
    for (int i = 0; i < STREAMS; i++) {
        left += !wires[i].conn->broken;
        wire_free(&wires[i]);
    }
    CHECK(left == 2); /* of each address one */
    fixture_protocol_free(protocol);
    fixture_free(&fixture);
}

static uint32_t completed(struct wire *wire)
{
    struct wire_answer answer;
    uint32_t count = 0;
    while (wire_answer(wire, &answer, false))
        count += wire_has(&answer, "request_completed");
    return count;
}

/* One connection has more than a turn takes. What another sends after it is in the same turn: an
 * order before all reads, and two orders between its many. While a command is not answered a turn
 * of nothing else takes few of the reads, but some. */
static void commands_come_first(void)
{
    static struct fixture fixture;
    static char text[1 << 16];
    struct wire many, few;
    fixture_init(&fixture, true, 1024);
    struct protocol *protocol = fixture_protocol(&fixture, 256);
    const uint64_t *requests = &protocol->context.metrics.counters.requests;
    wire_open(&many, &fixture, protocol, false);
    wire_open(&few, &fixture, protocol, false);

    protocol_turn_begin(protocol);
    protocol_receive(protocol, many.conn, text, repeat(text, WAITING));
    protocol_receive(protocol, few.conn, text, fixture_order_post(&fixture, text, sizeof text));
    (void)protocol_turn_end(protocol);
    CHECK(protocol->sender.commands_out == 1);
    uint64_t least = WAITING;
    for (int i = 0; i < TURNS && many.conn->blocked; i++) {
        uint64_t before = *requests;
        protocol_turn_begin(protocol);
        (void)protocol_turn_end(protocol);
        CHECK(*requests > before);
        least = *requests - before < least ? *requests - before : least;
    }
    CHECK(least <= PROTOCOL_QUANTUM); /* of the reads: one connection's turn */
    CHECK(fixture_match(&fixture) == 1);
    while (many.conn->blocked)
        wire_turn_net(&many);
    wire_turn_net(&few);
    CHECK(completed(&few) == 1);

    protocol_turn_begin(protocol);
    size_t count = 0;
    for (unsigned i = 0; i < WAITING; i++)
        count += fixture_order_post(&fixture, text + count, sizeof text - count);
    protocol_receive(protocol, many.conn, text, count);
    count = fixture_order_post(&fixture, text, sizeof text);
    count += fixture_order_post(&fixture, text + count, sizeof text - count);
    protocol_receive(protocol, few.conn, text, count);
    (void)protocol_turn_end(protocol);
    CHECK(fixture_match(&fixture) == NET_TURN_REQUESTS);
    wire_turn_net(&few);
    CHECK(completed(&few) == 2);
    while (many.conn->blocked || fixture_match(&fixture) > 0)
        wire_turn_net(&many);
    wire_free(&many);
    wire_free(&few);
    fixture_protocol_free(protocol);
    fixture_free(&fixture);
}

/* Sends an order, which is not durable yet, and previews behind it. */
static void wait_with(struct fixture *fixture, struct wire *wire, const char *preview, size_t bytes,
                      int count)
{
    char text[4096];
    wire_send(wire, text, fixture_order_post(fixture, text, sizeof text), 0);
    for (int i = 0; i < count; i++)
        wire_send(wire, preview, bytes, 0);
}

/* How many of the previews were answered; the others were refused. */
static unsigned answered_of(struct wire *wire, int count)
{
    unsigned good = 0;
    struct wire_answer answer;
    wire_send(wire, "", 0, 0); /* four turns */
    CHECK(wire_answer(wire, &answer, false) && wire_has(&answer, "\"sequence\":"));
    for (int i = 0; i < count; i++) {
        CHECK(wire_answer(wire, &answer, false));
        bool is_good = answer.status == 200 && wire_has(&answer, "\"digest\":");
        CHECK(is_good || (answer.status == 503 && wire_has(&answer, "\"code\":\"not_ready\"")));
        good += is_good;
    }
    return good;
}

/* W7: 64 requests with a body wait behind other requests. An address has one more while it has less
 * than half as many as are free: 22 of 64, the next 14 of 42, the third 10 of 28. Their room
 * comes back with their answers, or with their connection. */
static void previews_wait_in_a_bounded_room(void)
{
    enum { EACH = 30, LEFT = 64 - 22 - 14 - 10 };
    static const char body[] = "{\"payload\":\"AQEPAAAAAAAAAAAAAABwAIAAAAAAAAAABwAAAAAAAAA=\"}";
    static struct fixture fixture;
    static struct wire wires[4], others[LEFT], again;
    char preview[512];
    struct wire_answer answer;
    fixture_init(&fixture, true, 1024);
    fixture.config.output_pool_bytes = 1 << 20;
    struct protocol *protocol = fixture_protocol(&fixture, 256);
    size_t bytes = fixture_post(preview, sizeof preview, "/api/v1/eip712/preview",
                                "application/json", body, sizeof body - 1);
    fixture.hold_durable = true;
    for (unsigned i = 0; i < CC_COUNT(wires); i++) {
        wire_open(&wires[i], &fixture, protocol, false);
        wires[i].conn->address = i < 2 ? 1 : i; /* the first two are of one address */
        wait_with(&fixture, &wires[i], preview, bytes, EACH);
    }
    for (unsigned i = 0; i < LEFT; i++) { /* however many come, each gets one while there is one */
        wire_open(&others[i], &fixture, protocol, false);
        others[i].conn->address = 100 + i;
        wait_with(&fixture, &others[i], preview, bytes, 1);
    }
    wire_free(&wires[2]); /* gives back its 14 */
    wire_open(&again, &fixture, protocol, false);
    wire_send(&again, preview, bytes, 0);
    CHECK(wire_answer(&again, &answer, false) && answer.status == 200);
    fixture.durable = CC_COUNT(wires) + LEFT;
    CHECK(answered_of(&wires[0], EACH) == 22 && answered_of(&wires[1], EACH) == 0);
    CHECK(answered_of(&wires[3], EACH) == 10);
    for (unsigned i = 0; i < LEFT; i++) {
        CHECK(answered_of(&others[i], 1) == 1);
        wire_free(&others[i]);
    }
    for (unsigned i = 0; i < CC_COUNT(wires); i++)
        if (i != 2)
            wire_free(&wires[i]);
    wire_free(&again);
    fixture_protocol_free(protocol);
    fixture_free(&fixture);
}

int main(void)
{
    static struct fixture fixture;
    static char text[TEXT_MAX];
    struct wire waiting, busy[TURNS];
    struct wire_answer answer;
    uint32_t answered = 0;

    fixture_init(&fixture, true, 64);
    fixture.config.output_pool_bytes = 1 << 20;
    struct protocol *protocol = fixture_protocol(&fixture, 256);
    wire_open(&waiting, &fixture, protocol, false);
    for (int i = 0; i < TURNS; i++)
        wire_open(&busy[i], &fixture, protocol, false);

    protocol_turn_begin(protocol);
    protocol_receive(protocol, waiting.conn, text, repeat(text, WAITING));
    (void)protocol_turn_end(protocol);
    CHECK(protocol->context.metrics.counters.requests == NET_TURN_REQUESTS);
    for (int i = 0; i < TURNS; i++) {
        uint64_t before = protocol->context.metrics.counters.requests;
        protocol_turn_begin(protocol);
        CHECK(protocol->budget >= NET_TURN_REQUESTS / 2); /* left for what arrives */
        protocol_receive(protocol, busy[i].conn, text, repeat(text, NET_TURN_REQUESTS));
        (void)protocol_turn_end(protocol);
        CHECK(protocol->context.metrics.counters.requests - before <= NET_TURN_REQUESTS);
    }
    CHECK(!waiting.conn->blocked); /* all 64 were taken though every turn had more than it takes */
    wire_turn_net(&waiting);
    while (wire_answer(&waiting, &answer, false))
        answered += answer.status == 200;
    CHECK(answered == WAITING);

    wire_free(&waiting);
    for (int i = 0; i < TURNS; i++)
        wire_free(&busy[i]);
    fixture_protocol_free(protocol);
    fixture_free(&fixture);
    hoarders_yield();
    previews_wait_in_a_bounded_room();
    commands_come_first();
    the_crowd_yields();
    the_quiet_yield_first();
    equals_take_turns();
    the_last_of_equals_is_found();
    the_crowd_is_counted();
    streams_yield();
    return 0;
}
