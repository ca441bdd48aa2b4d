#include "perp/bench/rig.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/json_scan.h"
#include "crypto/secret.h"
#include "perp/request/client_stream.h"

enum { READY_POLL_US = 2000, LOG_BYTES = 65536 };

static _Noreturn void die(const char *what, const char *why)
{
    fprintf(stderr, "rig: %s: %s\n", what, why);
    exit(1);
}

uint64_t rig_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct uuid rig_id(uint64_t unix_ms)
{
    uint8_t random[10];
    if (secret_random(random, sizeof random) != 0)
        die("random", "getrandom failed");
    return uuid_make_v7(unix_ms, random);
}

void rig_init(struct rig *rig, const char *perpd, const char *parent)
{
    memset(rig, 0, sizeof *rig);
    snprintf(rig->perpd, sizeof rig->perpd, "%s", perpd);
    snprintf(rig->folder, sizeof rig->folder, "%s/perpd-rig-XXXXXX", parent);
    if (mkdtemp(rig->folder) == NULL)
        die(rig->folder, strerror(errno));
    snprintf(rig->data, sizeof rig->data, "%s/data", rig->folder);
    if (signer_init() != 0 || key_file_make(&rig->operator_key, SIGNATURE_ED25519) != 0 ||
        key_file_make(&rig->oracle_key, SIGNATURE_ED25519) != 0)
        die("keys", "could not be made");
}

/* In the child: perpd with its output in the folder, ended with us. */
static _Noreturn void run_perpd(const struct rig *rig, const char *const *options)
{
    char data[RIG_PATH_BYTES + 64], operator_key[128], oracle_keys[128], path[RIG_PATH_BYTES + 32];
    char text[BASE64_TEXT_BYTES(32) + 1];
    const char *argv[RIG_OPTIONS_MAX + 8];
    size_t count = 0;

    snprintf(data, sizeof data, "--store.data=%s", rig->data);
    base64_encode(text, rig->operator_key.public_key, 32);
    snprintf(operator_key, sizeof operator_key, "--exchange.operator_key=%s", text);
    base64_encode(text, rig->oracle_key.public_key, 32);
    snprintf(oracle_keys, sizeof oracle_keys, "--exchange.oracle_keys=%s", text);
    argv[count++] = rig->perpd;
    argv[count++] = data;
    argv[count++] = operator_key;
    argv[count++] = oracle_keys;
    argv[count++] = "--net.listen=127.0.0.1:0";
    argv[count++] = "--admin.listen=127.0.0.1:0";
    for (; options != NULL && *options != NULL && count < CC_COUNT(argv) - 1; options++)
        argv[count++] = *options;
    argv[count] = NULL;

    snprintf(path, sizeof path, "%s/out", rig->folder);
    int out = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    snprintf(path, sizeof path, "%s/log", rig->folder);
    int err = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        _exit(127);
    if (out < 0 || err < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
        _exit(127);
    execv(rig->perpd, (char *const *)argv);
    _exit(127);
}

static size_t read_file(const struct rig *rig, const char *name, char *text, size_t capacity)
{
    char path[RIG_PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/%s", rig->folder, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    ssize_t got = read(file, text, capacity - 1);
    close(file);
    text[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

/* The last admin_port= of the log belongs to this start. */
static bool learn_ports(struct rig *rig)
{
    static char out[256], log[LOG_BYTES];
    const char *last = NULL;

    if (read_file(rig, "out", out, sizeof out) == 0 || strchr(out, '\n') == NULL)
        return false;
    if (sscanf(out, "ready %63s", rig->url) != 1)
        return false;
    if (read_file(rig, "log", log, sizeof log) == 0)
        return false;
    for (const char *at = strstr(log, "admin_port="); at != NULL;
         at = strstr(at + 1, "admin_port="))
        last = at;
    if (last == NULL)
        return false;
    snprintf(rig->admin_url, sizeof rig->admin_url, "http://127.0.0.1:%d",
             (int)strtol(last + strlen("admin_port="), NULL, 10));
    return true;
}

void rig_learn_exchange(struct rig *rig)
{
    struct client client;
    struct client_request request = { .method = "GET", .target = "/api/v1/exchange" };
    struct client_answer answer;
    struct json_member member = JSON_MEMBER("exchange_id");
    uint8_t id[32];

    rig_connect(rig, &client, false);
    if (client_call(&client, &request, &answer) != 0)
        die("/api/v1/exchange", client.error);
    if (json_scan_members(answer.body, answer.body_count, &member, 1, NULL) != JSON_OK ||
        !hex_decode(id, sizeof id, member.value.text, member.value.count))
        die("/api/v1/exchange", "no exchange_id");
    eip712_init(&rig->eip712, id);
    client_close(&client);
}

bool rig_start(struct rig *rig, const char *const *options)
{
    char path[RIG_PATH_BYTES + 32];
    snprintf(path, sizeof path, "%s/log", rig->folder);
    unlink(path); /* each start has its own log; the admin port is read from it */
    snprintf(path, sizeof path, "%s/out", rig->folder);
    unlink(path);
    rig->pid = fork();
    if (rig->pid < 0)
        die("fork", strerror(errno));
    if (rig->pid == 0)
        run_perpd(rig, options);
    for (int turn = 0; turn < RIG_READY_S_MAX * 1000000 / READY_POLL_US; turn++) {
        int status;
        if (learn_ports(rig)) {
            rig_learn_exchange(rig);
            return true;
        }
        if (waitpid(rig->pid, &status, WNOHANG) == rig->pid) {
            rig->pid = 0;
            return false;
        }
        usleep(READY_POLL_US);
    }
    return false;
}

int rig_end(struct rig *rig, int signal_number)
{
    int status = 0;
    if (rig->pid != 0) {
        kill(rig->pid, signal_number);
        waitpid(rig->pid, &status, 0);
    }
    rig->pid = 0;
    return status;
}

/* The command rings of a perpd that was killed survive it (node/recover/poison_page.h); its
 * exchange.id is in the file `exchange` (journal.md, Data directory). */
static void forget_memory(const struct rig *rig)
{
    char path[RIG_PATH_BYTES + 32], text[2 * 32 + 1];
    uint8_t head[64];
    glob_t found;

    snprintf(path, sizeof path, "%s/data/exchange", rig->folder);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    if (read(file, head, sizeof head) == (ssize_t)sizeof head) {
        hex_encode(text, head + 32, 32);
        snprintf(path, sizeof path, "/dev/shm/perpd-*/perpd-%s", text);
        if (glob(path, 0, NULL, &found) == 0) {
            unlink(found.gl_pathv[0]);
            rmdir(dirname(found.gl_pathv[0]));
            globfree(&found);
        }
    }
    close(file);
}

void rig_remove(struct rig *rig)
{
    forget_memory(rig);
    pid_t pid = fork();
    if (pid == 0) {
        execlp("rm", "rm", "-rf", rig->folder, (char *)NULL);
        _exit(127);
    }
    if (pid > 0)
        waitpid(pid, NULL, 0);
}

void rig_connect(const struct rig *rig, struct client *client, bool admin)
{
    if (!client_init(client, admin ? rig->admin_url : rig->url, CLIENT_TIMEOUT_MS) ||
        (admin && !client_read_token(client, rig->data)))
        die(rig->url, client->error);
    const char *certificate = getenv("PERPD_NET_TLS_CERTIFICATE"); /* perpd's, signed by itself */
    if (certificate != NULL)
        snprintf(client->ca, sizeof client->ca, "%s", certificate);
}

const char *rig_make_stream(struct client *client)
{
    struct client_stream_ask ask;
    struct client_answer answer;

    if (!client_stream_ask(&ask))
        return "no random bytes for a stream";
    if (client_call(client, &ask.request, &answer) != 0)
        return client->error;
    if (client_stream_agrees(&ask, &answer))
        return NULL;
    return answer.status == 429 ? "the exchange has no more streams for this address "
                                  "(limits.stream_connections)"
                                : "the exchange makes no stream of a connection";
}

bool rig_send(struct rig *rig, struct client *client, struct draft *draft,
              const struct key_file *key, struct outcome *outcome)
{
    uint8_t frame[REQUEST_FRAME_MAX];
    struct client_answer answer;

    if (!draft_sign(draft, key, &rig->eip712))
        die(draft->request->name, "cannot be signed");
    struct client_request request = {
        .method = "POST",
        .target = draft->request->path,
        .content_type = "application/octet-stream",
        .body = frame,
        .body_count = draft_frame(draft, frame),
    };
    if (client_call(client, &request, &answer) != 0)
        return false;
    outcome_read(outcome, &answer);
    return true;
}

static void demand(struct rig *rig, struct client *client, struct draft *draft,
                   const struct key_file *key, struct outcome *outcome)
{
    if (!rig_send(rig, client, draft, key, outcome))
        die(draft->request->name, client->error);
    if (!outcome_is_done(outcome))
        die(draft->request->name, outcome->word);
}

static struct uuid fresh_id(void)
{
    return rig_id(rig_now_ns() / 1000000);
}

void rig_open_account(struct rig *rig, struct client *client, struct rig_trader *trader)
{
    struct key_file master;
    struct outcome outcome;
    struct draft draft;
    struct uuid id = fresh_id();

    if (key_file_make(&master, SIGNATURE_SECP256K1) != 0 ||
        key_file_make(&trader->session, SIGNATURE_ED25519) != 0)
        die("keys", "could not be made");
    draft_begin(&draft, REQUEST_create_account_secp256k1, SIGNATURE_SECP256K1, &id);
    draft_set_bytes(&draft, "session_pub", trader->session.public_key, 32);
    demand(rig, client, &draft, &master, &outcome);
    trader->account_id = outcome.account_id;

    id = fresh_id();
    draft_begin(&draft, REQUEST_create_api_key, SIGNATURE_ED25519, &id);
    draft_set(&draft, "account_id", trader->account_id);
    draft_set(&draft, "subaccount_pin", UINT32_MAX);
    demand(rig, client, &draft, &trader->session, &outcome);
    snprintf(trader->api_key, sizeof trader->api_key, "%s", outcome.secret);
}

void rig_deposit(struct rig *rig, struct client *client, uint64_t account_id, uint64_t amount_usdc)
{
    struct draft_portfolio portfolio = { .account_id = account_id };
    struct outcome outcome;
    struct draft draft;
    struct uuid id = fresh_id();
    uint8_t ref[32] = { 0 };

    memcpy(ref, id.bytes, sizeof id.bytes);
    draft_begin(&draft, REQUEST_deposit_credit, SIGNATURE_ED25519, &id);
    draft_set_portfolio(&draft, "portfolio_id", &portfolio);
    draft_set(&draft, "amount", amount_usdc * 1000000);
    draft_set_bytes(&draft, "external_ref", ref, sizeof ref);
    demand(rig, client, &draft, &rig->operator_key, &outcome);
}

void rig_oracle(struct rig *rig, struct client *client, uint16_t asset, uint64_t price_raw)
{
    struct outcome outcome;
    struct draft draft;
    struct uuid id = fresh_id();

    draft_begin(&draft, REQUEST_oracle_price, SIGNATURE_ED25519, &id);
    draft_set(&draft, "publish_ts_ns", rig_now_ns());
    draft_set(&draft, "index_price", price_raw);
    draft_set(&draft, "asset", asset);
    draft_set(&draft, "source_count", 1);
    demand(rig, client, &draft, &rig->oracle_key, &outcome);
}

void rig_order(const struct rig_trader *trader, const struct rig_order *order,
               const struct uuid *id, struct draft *draft)
{
    struct draft_portfolio portfolio = { .account_id = trader->account_id };

    draft_begin(draft, REQUEST_place_limit_order, SIGNATURE_ED25519, id);
    draft_set_portfolio(draft, "portfolio_id", &portfolio);
    draft_set(draft, "price", order->price_raw);
    draft_set(draft, "quantity", (uint64_t)order->quantity_raw);
    draft_set(draft, "expiry", order->expiry);
    draft_set(draft, "post_only", order->post_only);
    draft_set(draft, "asset", order->asset);
}

uint32_t rig_get(struct client *client, const char *target, const char *api_key, char *text,
                 size_t capacity)
{
    struct client_request request = { .method = "GET", .target = target, .api_key = api_key };
    struct client_answer answer;

    if (client_call(client, &request, &answer) != 0)
        return 0;
    size_t count = answer.body_count < capacity ? answer.body_count : capacity - 1;
    memcpy(text, answer.body, count);
    text[count] = '\0';
    return answer.status;
}
