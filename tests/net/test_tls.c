/* The layer of TLS by itself (tls_server.h, tls_session.h): what it agrees to, what it refuses, and
 * that bytes arrive as they were sent in whatever cuts, or not at all. */
#include <openssl/err.h>

#include "check.h"
#include "net/tls_pair.h"

static struct tls_server *server;
static struct tls_pair pair;
static uint8_t sent[40000];

static SSL_CTX *clients_of(int version)
{
    SSL_CTX *clients = tls_pair_clients();

    CHECK(SSL_CTX_set_min_proto_version(clients, version) == 1);
    CHECK(SSL_CTX_set_max_proto_version(clients, version) == 1);
    return clients;
}

static void check_echo(size_t cut)
{
    uint8_t back[256];
    size_t written = 0, read = 0;

    CHECK(SSL_write_ex(pair.client, sent, sizeof sent, &written) == 1 && written == sizeof sent);
    tls_pair_move(&pair, cut);
    CHECK(pair.last == TLS_MORE && pair.received_bytes == sizeof sent);
    CHECK(memcmp(pair.received, sent, sizeof sent) == 0);
    CHECK(tls_session_write(pair.session, sent, sizeof back));
    CHECK(SSL_read_ex(pair.client, back, sizeof back, &read) == 1 && read == sizeof back);
    CHECK(memcmp(back, sent, sizeof back) == 0);
}

/* Each record counts, whatever it holds, however it is cut. */
static void counts_records(void)
{
    static const size_t cuts[] = { 1, 7, 4096 };
    SSL_CTX *clients = clients_of(TLS1_3_VERSION);
    size_t written = 0;

    for (size_t i = 0; i < CC_COUNT(cuts); i++) {
        tls_pair_open(&pair, server, clients);
        CHECK(tls_pair_handshake(&pair, 4096));
        pair.wire.records = 0;
        for (unsigned k = 0; k < 5; k++)
            CHECK(SSL_write_ex(pair.client, sent, 1 + 100 * k, &written) == 1);
        tls_pair_move(&pair, cuts[i]);
        CHECK(pair.received_bytes == 5 + 1000 && pair.wire.records == 5);
        tls_pair_close(&pair);
    }
    SSL_CTX_free(clients);
}

static void any_cuts(void)
{
    static const int versions[] = { TLS1_2_VERSION, TLS1_3_VERSION };
    static const size_t cuts[] = { 1, 2, 3, 5, 6, 64, 517, 4096, TLS_RECORD_MAX };

    for (size_t v = 0; v < CC_COUNT(versions); v++) {
        SSL_CTX *clients = clients_of(versions[v]);
        for (size_t i = 0; i < CC_COUNT(cuts); i++) {
            tls_pair_open(&pair, server, clients);
            CHECK(tls_pair_handshake(&pair, cuts[i]));
            CHECK(SSL_version(pair.client) == versions[v]);
            check_echo(cuts[i]);
            tls_pair_close(&pair);
        }
        SSL_CTX_free(clients);
    }
}

/* What a client must not get: older versions, other protocols, ciphers without forward secrecy,
 * curves that are not offered, sessions that come again. */
static void terms(void)
{
    static const uint8_t h2[] = "\x02h2", both[] = "\x02h2\x08http/1.1";
    const uint8_t *chosen;
    unsigned count;
    SSL_CTX *clients = clients_of(TLS1_1_VERSION);

    SSL_CTX_set_security_level(clients, 0);
    tls_pair_open(&pair, server, clients);
    CHECK(!tls_pair_handshake(&pair, 4096));
    tls_pair_close(&pair);
    SSL_CTX_free(clients);
    clients = tls_pair_clients();
    CHECK(SSL_CTX_set_alpn_protos(clients, h2, sizeof h2 - 1) == 0);
    tls_pair_open(&pair, server, clients);
    CHECK(!tls_pair_handshake(&pair, 4096));
    tls_pair_close(&pair);
    CHECK(SSL_CTX_set_alpn_protos(clients, both, sizeof both - 1) == 0);
    tls_pair_open(&pair, server, clients);
    CHECK(tls_pair_handshake(&pair, 4096));
    SSL_get0_alpn_selected(pair.client, &chosen, &count);
    CHECK(count == 8 && memcmp(chosen, "http/1.1", 8) == 0);
    check_echo(4096);
    CHECK(SSL_SESSION_has_ticket(SSL_get_session(pair.client)) == 0);
    SSL_SESSION *session = SSL_get1_session(pair.client);
    tls_pair_close(&pair);
    tls_pair_open(&pair, server, clients);
    CHECK(SSL_set_session(pair.client, session) == 1);
    CHECK(tls_pair_handshake(&pair, 4096) && SSL_session_reused(pair.client) == 0);
    tls_pair_close(&pair);
    SSL_SESSION_free(session);
    SSL_CTX_free(clients);
    clients = clients_of(TLS1_2_VERSION);
    CHECK(SSL_CTX_set_cipher_list(clients, "AES128-GCM-SHA256:ECDHE-ECDSA-AES128-SHA256") == 1);
    tls_pair_open(&pair, server, clients);
    CHECK(!tls_pair_handshake(&pair, 4096));
    tls_pair_close(&pair);
    SSL_CTX_free(clients);
    clients = tls_pair_clients();
    CHECK(SSL_CTX_set1_groups_list(clients, "P-521") == 1);
    tls_pair_open(&pair, server, clients);
    CHECK(!tls_pair_handshake(&pair, 4096));
    tls_pair_close(&pair);
    SSL_CTX_free(clients);
}

/* Every bit of a record counts: a change gives no byte and ends the session. */
static void changed_records(void)
{
    SSL_CTX *clients = tls_pair_clients();
    static uint8_t record[512];

    for (int at = 0; at < 60; at++) {
        size_t written = 0;
        tls_pair_open(&pair, server, clients);
        CHECK(tls_pair_handshake(&pair, 4096));
        CHECK(SSL_write_ex(pair.client, sent, 32, &written) == 1);
        int count = BIO_read(pair.from_client, record, sizeof record);
        CHECK(count > 40);
        if (at < count) {
            record[at] ^= (uint8_t)(1 << at % 8);
            tls_pair_give(&pair, record, (size_t)count);
            CHECK(pair.received_bytes == 0);
            /* A longer length waits for bytes that do not come. */
            CHECK(pair.last == TLS_FAILED || (pair.last == TLS_MORE && (at == 3 || at == 4)));
        }
        tls_pair_close(&pair);
    }
    SSL_CTX_free(clients);
}

static void ends(void)
{
    static const char plain[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    SSL_CTX *clients = tls_pair_clients();

    tls_pair_open(&pair, server, clients); /* no TLS */
    tls_pair_give(&pair, plain, sizeof plain - 1);
    CHECK(pair.last == TLS_FAILED && !pair.is_open);
    tls_session_end(pair.session);
    tls_pair_close(&pair);
    tls_pair_open(&pair, server, clients); /* close_notify */
    CHECK(tls_pair_handshake(&pair, 4096));
    CHECK(SSL_shutdown(pair.client) >= 0);
    tls_pair_move(&pair, 1);
    CHECK(pair.last == TLS_ENDED && pair.received_bytes == 0);
    tls_session_end(pair.session);
    CHECK(SSL_shutdown(pair.client) == 1); /* it came back */
    tls_pair_close(&pair);
    tls_pair_open(&pair, server, clients); /* no room to send */
    CHECK(tls_pair_handshake(&pair, 4096));
    pair.is_full = true;
    CHECK(!tls_session_write(pair.session, sent, 10));
    tls_pair_close(&pair);
    SSL_CTX_free(clients);
}

/* Messages that a peer could send without end, beside no data. */
static void upkeep(void)
{
    SSL_CTX *clients = clients_of(TLS1_3_VERSION);

    tls_pair_open(&pair, server, clients);
    CHECK(tls_pair_handshake(&pair, 4096));
    for (unsigned i = 0; i < TLS_UPKEEP_MAX; i++) {
        CHECK(SSL_key_update(pair.client, SSL_KEY_UPDATE_NOT_REQUESTED) == 1);
        CHECK(SSL_do_handshake(pair.client) == 1);
        tls_pair_move(&pair, 4096);
        CHECK(pair.last == TLS_MORE);
    }
    CHECK(SSL_key_update(pair.client, SSL_KEY_UPDATE_NOT_REQUESTED) == 1);
    CHECK(SSL_do_handshake(pair.client) == 1);
    tls_pair_move(&pair, 4096);
    CHECK(pair.last == TLS_FAILED);
    tls_pair_close(&pair);
    SSL_CTX_free(clients);
}

/* A thread's own server outlives the one that it shares; sessions outlive both. */
static void shared(void)
{
    SSL_CTX *clients = tls_pair_clients();
    struct tls_server *first = tls_pair_server(), *second = tls_server_share(first);

    CHECK(second != NULL && second->expires_unix_s == first->expires_unix_s);
    tls_server_free(first);
    tls_pair_open(&pair, second, clients);
    tls_server_free(second);
    CHECK(tls_pair_handshake(&pair, 4096));
    check_echo(4096);
    tls_pair_close(&pair);
    SSL_CTX_free(clients);
}

int main(void)
{
    for (size_t i = 0; i < sizeof sent; i++)
        sent[i] = (uint8_t)(i * 7 + i / 251);
    server = tls_pair_server();
    any_cuts();
    counts_records();
    terms();
    changed_records();
    ends();
    upkeep();
    shared();
    tls_server_free(server);
    return 0;
}
