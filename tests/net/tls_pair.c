#include "net/tls_pair.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

enum { DAY_S = 86400, TURNS_MAX = 64 };

static void write_files(const char *certificate_path, const char *key_path)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();

    CHECK(key != NULL && certificate != NULL);
    CHECK(X509_set_version(certificate, 2) == 1);
    CHECK(ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) == 1);
    CHECK(X509_gmtime_adj(X509_getm_notBefore(certificate), 0) != NULL);
    CHECK(X509_gmtime_adj(X509_getm_notAfter(certificate), DAY_S) != NULL);
    X509_NAME *name = X509_get_subject_name(certificate);
    CHECK(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const uint8_t *)"localhost", -1, -1,
                                     0) == 1);
    CHECK(X509_set_issuer_name(certificate, name) == 1);
    CHECK(X509_set_pubkey(certificate, key) == 1);
    CHECK(X509_sign(certificate, key, EVP_sha256()) != 0);
    FILE *out = fopen(certificate_path, "w");
    CHECK(out != NULL && PEM_write_X509(out, certificate) == 1 && fclose(out) == 0);
    out = fopen(key_path, "w");
    CHECK(out != NULL && chmod(key_path, 0600) == 0);
    CHECK(PEM_write_PrivateKey(out, key, NULL, NULL, 0, NULL, NULL) == 1 && fclose(out) == 0);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

struct tls_server *tls_pair_server(void)
{
    char folder[] = "/tmp/perpd-tls-XXXXXX", certificate[64], key[64], error[TLS_ERROR_BYTES];
    struct tls_server *server = NULL;

    CHECK(mkdtemp(folder) != NULL);
    snprintf(certificate, sizeof certificate, "%s/certificate", folder);
    snprintf(key, sizeof key, "%s/key", folder);
    write_files(certificate, key);
    CHECK(tls_session_prepare());
    CHECK(tls_server_load(&server, certificate, key, error) == 0);
    CHECK(unlink(certificate) == 0 && unlink(key) == 0 && rmdir(folder) == 0);
    return server;
}

SSL_CTX *tls_pair_clients(void)
{
    SSL_CTX *clients = SSL_CTX_new(TLS_client_method());

    CHECK(clients != NULL);
    SSL_CTX_set_verify(clients, SSL_VERIFY_NONE, NULL);
    return clients;
}

static bool take(void *context, const void *bytes, size_t count)
{
    struct tls_pair *pair = context;

    if (pair->is_full)
        return false;
    CHECK(BIO_write(pair->to_client, bytes, (int)count) == (int)count);
    return true;
}

void tls_pair_open(struct tls_pair *pair, const struct tls_server *server, SSL_CTX *clients)
{
    *pair = (struct tls_pair){ .wire = { .send = take, .context = pair }, .last = TLS_MORE };
    pair->session = tls_session_open(server, &pair->wire);
    pair->client = SSL_new(clients);
    pair->to_client = BIO_new(BIO_s_mem());
    pair->from_client = BIO_new(BIO_s_mem());
    CHECK(pair->session != NULL && pair->client != NULL);
    CHECK(pair->to_client != NULL && pair->from_client != NULL);
    SSL_set_bio(pair->client, pair->to_client, pair->from_client);
    SSL_set_connect_state(pair->client);
}

void tls_pair_close(struct tls_pair *pair)
{
    tls_session_close(pair->session);
    SSL_free(pair->client);
}

void tls_pair_give(struct tls_pair *pair, const void *bytes, size_t count)
{
    pair->wire.bytes = bytes;
    pair->wire.count = count;
    if (pair->last == TLS_FAILED || pair->last == TLS_ENDED)
        return;
    if (!pair->is_open) {
        pair->last = tls_session_handshake(pair->session);
        CHECK(pair->last != TLS_ENDED);
        pair->is_open = pair->last == TLS_DONE;
    }
    while (pair->is_open) {
        size_t read = 0;
        pair->last = tls_session_read(pair->session, pair->received + pair->received_bytes,
                                      sizeof pair->received - pair->received_bytes, &read);
        CHECK((pair->last == TLS_DONE) == (read != 0));
        pair->received_bytes += read;
        if (pair->last != TLS_DONE || pair->received_bytes == sizeof pair->received)
            break;
    }
    /* Ciphertext is read whole: what is not complete is in the session. */
    CHECK(pair->wire.count == 0 || pair->last != TLS_MORE);
}

void tls_pair_move(struct tls_pair *pair, size_t cut)
{
    uint8_t bytes[TLS_RECORD_MAX];
    int count;

    while ((count = BIO_read(pair->from_client, bytes,
                             (int)(cut < sizeof bytes ? cut : sizeof bytes))) > 0)
        tls_pair_give(pair, bytes, (size_t)count);
}

bool tls_pair_handshake(struct tls_pair *pair, size_t cut)
{
    for (unsigned turn = 0; turn < TURNS_MAX; turn++) {
        bool is_done = SSL_do_handshake(pair->client) == 1;
        tls_pair_move(pair, cut);
        if (pair->last == TLS_FAILED)
            return false;
        if (is_done && pair->is_open)
            return true;
    }
    return false;
}
