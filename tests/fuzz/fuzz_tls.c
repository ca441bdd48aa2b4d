/* The layer of TLS: bytes of a stranger in any cuts, and records of a client that completed its
 * handshake, changed, cut, doubled and lost on the way. Whatever comes, the server reads nothing
 * that the client did not send, in the order in which it was sent, and nothing after it failed. */
#include "check.h"
#include "net/tls_pair.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORD_BYTES = 512, EVENTS_MAX = 200 };

static struct tls_server *server;
static SSL_CTX *clients;
static struct tls_pair pair;
static uint8_t sent[1 << 16];
static size_t sent_bytes;

/* A stranger's bytes: the first byte is the cut. */
static void strange(const uint8_t *data, size_t size)
{
    size_t cut = 1u + (size > 0 ? data[0] : 0u);

    tls_pair_open(&pair, server, clients);
    for (size_t at = 1; at < size; at += cut)
        tls_pair_give(&pair, data + at, size - at < cut ? size - at : cut);
    CHECK(pair.received_bytes == 0);
    tls_session_end(pair.session);
    tls_pair_close(&pair);
}

static size_t next_record(uint8_t record[RECORD_BYTES], uint8_t count)
{
    size_t written = 0;

    for (size_t i = 0; i < 1u + count % 64; i++)
        sent[sent_bytes + i] = (uint8_t)(sent_bytes + i);
    CHECK(SSL_write_ex(pair.client, sent + sent_bytes, 1u + count % 64, &written) == 1);
    sent_bytes += written;
    int bytes = BIO_read(pair.from_client, record, RECORD_BYTES);
    CHECK(bytes > 0 && bytes < RECORD_BYTES);
    return (size_t)bytes;
}

/* Events of two bytes: what is done to the next record. */
static void known(const uint8_t *data, size_t size)
{
    uint8_t record[RECORD_BYTES];
    size_t right = 0; /* bytes that had arrived before the first change */
    bool is_changed = false;
    uint32_t updates = 0;

    tls_pair_open(&pair, server, clients);
    sent_bytes = 0;
    CHECK(tls_pair_handshake(&pair, TLS_RECORD_MAX));
    for (size_t at = 0; at + 1 < size && at < EVENTS_MAX; at += 2) {
        size_t count = next_record(record, data[at + 1]);
        switch (data[at] % 6) {
        case 0: /* as it is, in two parts */
            tls_pair_give(&pair, record, data[at + 1] % count);
            tls_pair_give(&pair, record + data[at + 1] % count, count - data[at + 1] % count);
            break;
        case 1: /* lost */
            is_changed = true;
            break;
        case 2: /* twice */
            tls_pair_give(&pair, record, count);
            right = is_changed ? right : sent_bytes;
            is_changed = true;
            tls_pair_give(&pair, record, count);
            break;
        case 3: /* changed */
            record[data[at + 1] % count] ^= (uint8_t)(1 + data[at] / 6);
            is_changed = true;
            tls_pair_give(&pair, record, count);
            break;
        case 4: /* cut */
            is_changed = true;
            tls_pair_give(&pair, record, data[at + 1] % count);
            break;
        default: /* another key, and the peer must answer with one */
            (void)SSL_key_update(pair.client, SSL_KEY_UPDATE_REQUESTED);
            is_changed |= ++updates >= TLS_UPKEEP_MAX; /* it may end here */
            tls_pair_give(&pair, record, count);
            break;
        }
        right = is_changed ? right : sent_bytes;
        CHECK(pair.received_bytes == right || (is_changed && pair.received_bytes >= right));
        CHECK(pair.received_bytes <= sent_bytes);
        CHECK(memcmp(pair.received, sent, pair.received_bytes) == 0);
    }
    tls_session_end(pair.session);
    tls_pair_close(&pair);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (server == NULL) {
        server = tls_pair_server();
        clients = tls_pair_clients();
    }
    if (size == 0)
        return 0;
    if (data[0] % 2 == 0)
        strange(data + 1, size - 1);
    else
        known(data + 1, size - 1);
    return 0;
}
