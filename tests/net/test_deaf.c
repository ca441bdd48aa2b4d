/* Who reads nothing, in a table that is nearly full: he yields although reads of his wait until he
 * does (wire.md W10); an order behind them that is being executed keeps him, and so does an answer
 * of the last second, but not one that has only been sealed since. */
#include "check.h"
#include "net/entrance.h"
#include "net/fixture.h"

enum { TABLE = 64, CROWD = 58 };

static struct conn *comes(struct protocol *protocol, uint64_t address)
{
    struct conn *conn = protocol_open(protocol, false);
    CHECK(conn != NULL);
    conn->address = address;
    if (entrance_admit(&protocol->context, conn))
        return conn;
    protocol_close(protocol, conn);
    return NULL;
}

/* Whether a stranger comes in; he goes again. */
static bool visits(struct protocol *protocol)
{
    struct conn *conn = comes(protocol, 5);
    if (conn != NULL)
        protocol_close(protocol, conn);
    return conn != NULL;
}

int main(void)
{
    static struct fixture fixture;
    struct conn *conns[CROWD];
    fixture_init(&fixture, true, 64);
    struct protocol *protocol = fixture_protocol(&fixture, TABLE);
    struct context *context = &protocol->context;
    for (int i = 0; i < CROWD; i++) {
        conns[i] = comes(protocol, 9);
        CHECK(conns[i] != NULL);
        conns[i]->pending_count = i > 0;
    }
    struct conn *deaf = conns[0];
    struct pending *read = pending_add(&context->pendings, deaf, PENDING_READ, PENDING_HELD);
    struct pending *write = pending_add(&context->pendings, deaf, PENDING_WRITE, PENDING_QUEUED);
    output_append(&context->outputs, &deaf->output, "x", 1, context->now_ns);
    context->now_ns += CONN_SECOND_NS;
    crowd_hear(&context->conns.crowd, deaf);
    CHECK(!visits(protocol)); /* its read is under way */
    deaf->reads_held = true;
    crowd_hear(&context->conns.crowd, deaf);
    CHECK(!visits(protocol));
    pending_move(write, PENDING_DONE);
    context->now_ns--;
    CHECK(!visits(protocol) && !deaf->broken);
    context->now_ns++;
    output_append(&context->outputs, &deaf->wire, "x", 1, context->now_ns);
    deaf->expected_bytes = 1; /* an answer is being made: others use up what is pipelined */
    crowd_hear(&context->conns.crowd, deaf);
    CHECK(!visits(protocol));
    deaf->expected_bytes = 0;
    crowd_hear(&context->conns.crowd, deaf);
    CHECK(visits(protocol) && deaf->broken);
    CHECK(!visits(protocol));
    for (int i = 0; i < CROWD; i++) {
        conns[i]->pending_count = i > 0 ? 0 : conns[i]->pending_count;
        protocol_close(protocol, conns[i]);
    }
    CHECK(read->state == PENDING_FREE && context->pendings.used == 0);
    fixture_protocol_free(protocol);
    fixture_free(&fixture);
    return 0;
}
