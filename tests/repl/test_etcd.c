/* The client of the seam against a running etcd of three members; skipped where there is none.
 *
 * Besides what every etcd must do: members that die and stop under it, and certificates. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "contract.h"
#include "etcd_server.h"
#include "repl/etcd_ask.h"
#include "repl/etcd_real.h"

enum { FRAMES = 400, WINDOW = 4, ROTATED = 200, FRAME_BYTES = 4096, STRIKE_EACH = 100 };

static const uint64_t ASK_NS = UINT64_C(1000000000);
static struct etcd_server server;

static uint64_t now_ns(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void pass(struct contract *contract, uint64_t ms)
{
    CHECK(etcd_wait(contract->etcd, -1, ms * 1000 * 1000) == 0);
}

static struct etcd *connect_with(int members, uint32_t request_ms, const char *certificates,
                                 const char *ca)
{
    static char names[3][128];
    struct link_endpoint endpoints[ETCD_SERVER_MEMBERS];
    char why[ETCD_TEXT_BYTES];
    struct etcd *etcd = NULL;
    struct etcd_real_config config = { .endpoints = endpoints,
                                       .endpoint_count = (uint32_t)members,
                                       .request_ms = request_ms };
    for (int i = 0; i < members; i++)
        etcd_server_endpoint(&server, i, &endpoints[i]);
    if (certificates != NULL) {
        (void)snprintf(names[0], sizeof names[0], "%s/%s.pem", certificates, ca);
        (void)snprintf(names[1], sizeof names[1], "%s/client.pem", certificates);
        (void)snprintf(names[2], sizeof names[2], "%s/client.key", certificates);
        config.ca = names[0];
        config.certificate = names[1];
        config.key = names[2];
    }
    CHECK(etcd_real_create(&etcd, &config, why) == 0);
    return etcd;
}

/* ---- members that die ------------------------------------------------------------------------ */

static struct etcd_bytes frame_key(int number)
{
    static char text[32];
    (void)snprintf(text, sizeof text, "perp/f/log/%08d", number);
    return etcd_text(text);
}

static void send_frame(struct etcd *etcd, int number)
{
    static uint8_t frame[FRAME_BYTES];
    memcpy(frame, &number, sizeof number);
    const struct etcd_compare is_new = { frame_key(number), ETCD_VERSION, 0 };
    const struct etcd_op put = { .verb = ETCD_PUT,
                                 .key = frame_key(number),
                                 .value = { frame, sizeof frame } };
    const struct etcd_op get = { .verb = ETCD_GET, .key = frame_key(number) };
    const struct etcd_transaction transaction = { &is_new, &put, &get, 1, 1, 1 };
    const struct etcd_request request = { .kind = ETCD_TRANSACTION, .transaction = &transaction };
    CHECK(etcd_submit(etcd, &request, (uint64_t)number) == 0);
}

/* Each member in turn dies or stops, and comes back at the next strike. */
static void strike(int turn)
{
    static int struck = -1;
    if (struck >= 0 && server.processes[struck] == 0)
        etcd_server_run(&server, struck);
    else if (struck >= 0)
        etcd_server_signal(&server, struck, SIGCONT);
    struck = turn < 3 ? turn : -1;
    if (turn == 1)
        etcd_server_signal(&server, struck, SIGSTOP);
    else if (turn < 3)
        etcd_server_kill(&server, struck);
}

/* A window of frames goes on while members die: each lands once, with its own bytes, and a watch
 * sees each once and in the order of revisions. */
static void failover(void)
{
    struct etcd *etcd = connect_with(3, 400, NULL, NULL);
    struct etcd *reader = connect_with(3, 400, NULL, NULL);
    struct etcd_done done;
    CHECK(etcd_ask_key(reader, etcd_text("k"), ASK_NS, &done) == 0);
    const struct etcd_request watch = { .kind = ETCD_WATCH,
                                        .key = etcd_text("perp/f/"),
                                        .end = etcd_text("perp/f/~"),
                                        .revision = done.revision + 1 };
    int sent = 0, landed = 0, found = 0, seen = 0, turn = 0;
    int64_t last_revision = 0;
    CHECK(etcd_submit(reader, &watch, 1) == 0);
    uint64_t end = now_ns() + 60 * UINT64_C(1000000000);
    while (landed < FRAMES || seen < FRAMES) {
        CHECK(now_ns() < end);
        while (sent < FRAMES && sent - landed < WINDOW)
            send_frame(etcd, ++sent);
        while (etcd_reap(etcd, &done, 1) == 1) {
            CHECK(done.result == ETCD_OK && done.tag <= FRAMES);
            if (!done.succeeded) {
                CHECK(done.is_resent && done.row_count == 1);
                CHECK(memcmp(done.rows->value.bytes, &(int){ (int)done.tag }, 4) == 0);
                found++;
            }
            if (++landed % STRIKE_EACH == 0)
                strike(turn++);
        }
        while (etcd_reap(reader, &done, 1) == 1) {
            CHECK(done.result == ETCD_OK);
            for (uint32_t i = 0; i < done.row_count; i++) {
                if (done.rows[i].mod_revision <= last_revision)
                    continue; /* the newest revision, again */
                last_revision = done.rows[i].mod_revision;
                CHECK(done.rows[i].version == 1);
                seen++;
            }
        }
        CHECK(etcd_wait(etcd, -1, 1000 * 1000) == 0);
    }
    CHECK(seen == FRAMES);
    struct etcd_health health;
    etcd_health(etcd, &health);
    printf("failover: %d frames, %llu sent again, %d found there, %llu connections\n", landed,
           (unsigned long long)health.resent, found, (unsigned long long)health.connections);
    CHECK(health.connections > 1);
    etcd_close(etcd);
    etcd_close(reader);
}

/* ---- endpoints that are no etcd -------------------------------------------------------------- */

/* A socket that listens on loopback, which the kernel answers and nobody else; or a port where none
 * listens. */
static int stranger(struct link_endpoint *endpoint, bool listens)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t bytes = sizeof address;
    char text[32];
    int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    CHECK(bind(file, (struct sockaddr *)&address, sizeof address) == 0);
    CHECK(!listens || listen(file, 16) == 0);
    CHECK(getsockname(file, (struct sockaddr *)&address, &bytes) == 0);
    (void)snprintf(text, sizeof text, "127.0.0.1:%d", ntohs(address.sin_port));
    CHECK(link_resolve(endpoint, text) == 0);
    return file;
}

/* One is silent, one talks of something else, one refuses: the request goes to the fourth. */
static void strangers(void)
{
    static const char page[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    struct link_endpoint endpoints[4];
    char why[ETCD_TEXT_BYTES];
    struct etcd *etcd = NULL;
    struct etcd_done done;
    struct etcd_health health;
    int files[3];
    for (int i = 0; i < 3; i++)
        files[i] = stranger(&endpoints[i], i < 2);
    etcd_server_endpoint(&server, 0, &endpoints[3]);
    const struct etcd_real_config config = { .endpoints = endpoints,
                                             .endpoint_count = 4,
                                             .request_ms = 2000 };
    CHECK(etcd_real_create(&etcd, &config, why) == 0);
    const struct etcd_request get = { .kind = ETCD_RANGE, .key = etcd_text("k") };
    CHECK(etcd_submit(etcd, &get, 1) == 0);
    uint64_t end = now_ns() + 60 * UINT64_C(1000000000);
    int talker = -1;
    while (etcd_reap(etcd, &done, 1) == 0) {
        CHECK(now_ns() < end);
        if (talker < 0 && (talker = accept(files[1], NULL, NULL)) >= 0)
            CHECK(write(talker, page, sizeof page - 1) == sizeof page - 1);
        CHECK(etcd_wait(etcd, -1, 5 * 1000 * 1000) == 0);
    }
    etcd_health(etcd, &health);
    CHECK(done.result == ETCD_OK && done.is_resent && health.endpoint == 3 && talker >= 0);
    etcd_close(etcd);
    CHECK(close(talker) == 0);
    for (int i = 0; i < 3; i++)
        CHECK(close(files[i]) == 0);
}

/* ---- certificates ---------------------------------------------------------------------------- */

/* A folder with an authority, a server of 127.0.0.1 (late: its certificate is over), a client;
 * another authority and name; and in next/ all of it anew, by the authority that follows. */
static void make_certificates(char *folder, size_t room)
{
    char command[2048];
    const char *place = getenv("TMPDIR");
    (void)snprintf(folder, room, "%s/perpd-tls-XXXXXX", place == NULL ? "/tmp" : place);
    CHECK(mkdtemp(folder) != NULL);
    (void)snprintf(
        command, sizeof command,
        "cd '%s' && n='openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days "
        "2'\n"
        "s() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $1.key "
        "-out $1.csr -subj /CN=$1 && printf \"subjectAltName=$2\\n\" >$1.ext && "
        "openssl x509 -req -in $1.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days ${3:-2} "
        "-extfile $1.ext -out $1.pem; }\n"
        "all() { $n -keyout ca.key -out ca.pem -subj /CN=$1 && s server IP:127.0.0.1 && "
        "s client DNS:client; }\n"
        "{ all ca && $n -keyout other.key -out other.pem -subj /CN=other && mkdir next && cd next "
        "&& all next && cd .. && s late IP:127.0.0.1 0; } >log 2>&1",
        folder);
    CHECK(system(command) == 0);
}

/* What a connection that does not come up says. */
static void refused(struct etcd *etcd, const char *text)
{
    struct etcd_done done;
    struct etcd_health health;
    uint64_t end = now_ns() + 60 * UINT64_C(1000000000);
    do {
        CHECK(etcd_ask_key(etcd, etcd_text("k"), ASK_NS, &done) != 0);
        etcd_health(etcd, &health);
        /* With TLS 1.3 a client is through before the server refuses its certificate. */
    } while ((strstr(health.text, text) == NULL || health.is_connected) && now_ns() < end);
    if (strstr(health.text, text) == NULL)
        fprintf(stderr, "%s\n", health.text);
    CHECK(strstr(health.text, text) != NULL && !health.is_connected);
    etcd_close(etcd);
}

/* A full database: nothing is put and no lease granted, what makes room or renews is done. */
static void full(struct contract *contract)
{
    static uint8_t value[1000 * 1000];
    const struct etcd_op put = { .verb = ETCD_PUT,
                                 .key = etcd_text("perp/full"),
                                 .value = { value, sizeof value } };
    const struct etcd_op empty = { .verb = ETCD_DELETE, .key = etcd_text("perp/full") };
    const struct etcd_transaction fill = { .then = &put, .then_count = 1 };
    const struct etcd_transaction clear = { .then = &empty, .then_count = 1 };
    struct etcd_request request = { .kind = ETCD_LEASE_GRANT, .ttl_s = 60 };
    struct etcd_done done = contract_ask(contract, &request);
    int64_t lease = done.lease;
    CHECK(done.result == ETCD_OK);
    int puts = 0;
    request = (struct etcd_request){ .kind = ETCD_TRANSACTION, .transaction = &fill };
    while ((done = contract_ask(contract, &request)).result == ETCD_OK)
        CHECK(++puts < 100);
    CHECK(done.result == ETCD_NO_SPACE && puts > 0);
    request = (struct etcd_request){ .kind = ETCD_LEASE_GRANT, .ttl_s = 60 };
    CHECK(contract_ask(contract, &request).result == ETCD_NO_SPACE);
    request = (struct etcd_request){ .kind = ETCD_LEASE_KEEP, .lease = lease };
    CHECK(contract_ask(contract, &request).result == ETCD_OK);
    request = (struct etcd_request){ .kind = ETCD_TRANSACTION, .transaction = &clear };
    CHECK(contract_ask(contract, &request).result == ETCD_OK);
}

static void certificates(void)
{
    char folder[64], command[192], why[ETCD_TEXT_BYTES];
    struct etcd_done done;
    make_certificates(folder, sizeof folder);
    etcd_server_start(&server, 1, "33554432", folder);
    struct contract contract = { connect_with(1, 1000, folder, "ca"), pass, "perp/tls/" };
    contract_run(&contract);
    full(&contract);
    etcd_close(contract.etcd);
    refused(connect_with(1, 1000, folder, "other"), "issuer");
    refused(connect_with(1, 1000, NULL, NULL), "");
    /* The same server under a name that its certificate does not bear. */
    struct link_endpoint endpoint;
    char name[32];
    (void)snprintf(name, sizeof name, "localhost:%d", server.ports[0]);
    CHECK(link_resolve(&endpoint, name) == 0);
    char ca[96], certificate[96], key[96];
    (void)snprintf(ca, sizeof ca, "%s/ca.pem", folder);
    (void)snprintf(certificate, sizeof certificate, "%s/client.pem", folder);
    (void)snprintf(key, sizeof key, "%s/client.key", folder);
    struct etcd_real_config config = { &endpoint, 1, 1000, ca, certificate, key };
    struct etcd *etcd = NULL;
    if (endpoint.address.ss_family == AF_INET) { /* etcd listens there only */
        CHECK(etcd_real_create(&etcd, &config, why) == 0);
        refused(etcd, "mismatch");
    }
    /* A server that asks for a certificate gets one that its authority did not sign. */
    (void)snprintf(certificate, sizeof certificate, "%s/other.pem", folder);
    (void)snprintf(key, sizeof key, "%s/other.key", folder);
    etcd_server_endpoint(&server, 0, &endpoint);
    CHECK(etcd_real_create(&etcd, &config, why) == 0);
    CHECK(etcd_ask_key(etcd, etcd_text("k"), ASK_NS, &done) != 0);
    etcd_close(etcd);
    /* A server whose certificate is over. */
    (void)snprintf(command, sizeof command,
                   "cd '%s' && cp late.pem server.pem && cp late.key "
                   "server.key",
                   folder);
    etcd_server_kill(&server, 0);
    CHECK(system(command) == 0);
    etcd_server_run(&server, 0);
    refused(connect_with(1, 1000, folder, "ca"), "expired");
    etcd_server_stop(&server);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    CHECK(system(command) == 0);
}

/* All certificates are signed anew by another authority while a window of frames goes on: the
 * client connects again once it has read the files again, and each frame lands once. */
static void rotation(void)
{
    char folder[64], command[160], names[3][96], why[ETCD_TEXT_BYTES];
    struct etcd_health health = { 0 };
    struct etcd_done done;
    make_certificates(folder, sizeof folder);
    etcd_server_start(&server, 1, "33554432", folder);
    struct etcd *etcd = connect_with(1, 400, folder, "ca");
    (void)snprintf(names[0], sizeof names[0], "%s/ca.pem", folder);
    (void)snprintf(names[1], sizeof names[1], "%s/client.pem", folder);
    (void)snprintf(names[2], sizeof names[2], "%s/client.key", folder);
    int sent = 0, landed = 0;
    bool is_exchanged = false, is_renewed = false;
    uint64_t end = now_ns() + 60 * UINT64_C(1000000000);
    while (landed < ROTATED) {
        CHECK(now_ns() < end);
        while (sent < ROTATED && sent - landed < WINDOW)
            send_frame(etcd, ++sent);
        while (etcd_reap(etcd, &done, 1) == 1) {
            CHECK(done.result == ETCD_OK && (done.succeeded || done.is_resent));
            landed++;
        }
        if (!is_exchanged && landed > ROTATED / 2) {
            etcd_server_kill(&server, 0);
            (void)snprintf(command, sizeof command, "cd '%s' && cp next/*.pem next/*.key .",
                           folder);
            CHECK(system(command) == 0);
            etcd_server_run(&server, 0);
            is_exchanged = true;
        }
        etcd_health(etcd, &health);
        if (is_exchanged && !is_renewed && strstr(health.text, "certificate") != NULL) {
            struct link_tls *tls = NULL;
            CHECK(link_tls_create(&tls, names[0], names[1], "/nowhere", why) != 0 &&
                  strstr(why, "/nowhere") != NULL);
            CHECK(link_tls_create(&tls, names[0], names[1], names[2], why) == 0);
            etcd_real_renew(etcd, tls);
            is_renewed = true;
        }
        CHECK(etcd_wait(etcd, -1, 1000 * 1000) == 0);
    }
    CHECK(is_renewed);
    etcd_close(etcd);
    etcd_server_stop(&server);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    CHECK(system(command) == 0);
}

/* What cannot be configured. */
static void configurations(void)
{
    struct link_endpoint endpoint;
    char why[ETCD_TEXT_BYTES];
    struct etcd *etcd = NULL;
    CHECK(link_resolve(&endpoint, "127.0.0.1") != 0 && link_resolve(&endpoint, ":1") != 0);
    CHECK(link_resolve(&endpoint, "[::1:2379") != 0 && link_resolve(&endpoint, "") != 0);
    CHECK(link_resolve(&endpoint, "[::1]:2379") == 0 && link_is_loopback(&endpoint));
    CHECK(link_resolve(&endpoint, "192.0.2.1:2379") == 0 && !link_is_loopback(&endpoint));
    struct etcd_real_config config = { .endpoints = &endpoint,
                                       .endpoint_count = 1,
                                       .request_ms = 400 };
    CHECK(etcd_real_create(&etcd, &config, why) == -EACCES && strstr(why, "certificates") != NULL);
    config.endpoint_count = 0;
    CHECK(etcd_real_create(&etcd, &config, why) == -EINVAL);
    config.endpoint_count = 1;
    config.ca = "/nowhere/ca.pem";
    CHECK(etcd_real_create(&etcd, &config, why) == -EINVAL && strstr(why, "together") != NULL);
    config.certificate = config.key = "/nowhere/key.pem";
    CHECK(etcd_real_create(&etcd, &config, why) == -EINVAL && strstr(why, "ca.pem") != NULL);
}

int main(void)
{
    configurations();
    if (!etcd_server_is_installed())
        return 77;
    (void)signal(SIGPIPE, SIG_IGN);
    etcd_server_start(&server, 3, "268435456", NULL);
    struct contract contract = { connect_with(3, 1000, NULL, NULL), pass, "perp/test/" };
    contract_run(&contract);
    etcd_close(contract.etcd);
    strangers();
    failover();
    etcd_server_stop(&server);
    certificates();
    rotation();
    return 0;
}
