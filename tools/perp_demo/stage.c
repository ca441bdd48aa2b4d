#include "perp_demo/stage.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/base64.h"
#include "perp/instant.h"

enum {
    READY_MS = 30000,
    STOP_MS = 15000,
    SHOW_LIVE_MS = 250,
    SHOW_PLAIN_MS = 2000,
    TRADES_PER_S = 50, /* what the demo must reach */
    TRADES_ENOUGH = 1000,
    PORT_DEFAULT = 8080,
    RATE_ORACLE = 5,
    RATE_MAKER = 10,
    RATE_TAKER = 20,
};

#define NS_PER_S       UINT64_C(1000000000)
#define PLAYER_DEPOSIT INT64_C(100000000000000) /* 100,000,000 USDC: fees of many days */
#define YOUR_DEPOSIT   INT64_C(100000000000)    /* 100,000 USDC */

/* Stages of a signed request without which a summary of latencies would say nothing. */
static const char *const wanted_stages[] = { "verified", "sequenced", "matched", "released",
                                             "sent" };

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

bool stage_interrupted(void)
{
    bool was = interrupted != 0;
    interrupted = 0;
    return was;
}

void stage_check(struct stage *stage, bool good, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("  %-4s ", good ? "ok" : "FAIL");
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    stage->failures += !good;
}

uint64_t stage_sent(const struct stage *stage)
{
    uint64_t sum = 0;
    for (int i = 0; i < STAGE_PLAYERS; i++)
        sum += stage->players[i].sent;
    return sum;
}

/* Takers' orders that met somebody: each is one trade at least. */
uint64_t stage_trades(const struct stage *stage)
{
    uint64_t sum = 0;
    for (int i = STAGE_MAKERS; i < STAGE_PLAYERS; i++)
        sum += stage->players[i].trades;
    return sum;
}

uint64_t stage_status(const struct stage *stage, enum status status)
{
    uint64_t sum = 0;
    for (int i = 0; i < STAGE_PLAYERS; i++)
        sum += stage->players[i].statuses[status];
    return sum;
}

uint64_t stage_rejected(const struct stage *stage)
{
    uint64_t sum = 0;
    for (int i = 0; i < STATUS_COUNT; i++) {
        if (i != STATUS_request_completed)
            sum += stage_status(stage, (enum status)i);
    }
    return sum;
}

static bool to_number(const char *text, int64_t *value)
{
    return text != NULL &&
           decimal_parse(text, strlen(text), 0, INT64_MIN + 1, INT64_MAX, value) == DECIMAL_OK;
}

/* The words of a line, separated by one blank each; gives their number. */
static size_t split(char *line, char **words, size_t capacity)
{
    size_t count = 0;
    for (char *rest = line; rest != NULL && count < capacity;) {
        words[count] = strsep(&rest, " ");
        if (words[count][0] != '\0')
            count++;
    }
    return count;
}

static void take_stat(struct player *player, const int64_t *numbers)
{
    player->sent = (uint64_t)numbers[0];
    player->trades = (uint64_t)numbers[1];
    player->problems = (uint64_t)numbers[2];
    player->position = numbers[3];
    player->p50_ns = (uint64_t)numbers[4];
    player->p99_ns = (uint64_t)numbers[5];
}

static void take_books(struct player *player, const int64_t *numbers)
{
    player->position = numbers[0];
    player->notional = numbers[1];
    player->gross = numbers[2];
}

static void take_status(struct player *player, const char *name, int64_t count)
{
    for (int i = 0; i < STATUS_COUNT; i++) {
        if (strcmp(name, status_name((enum status)i)) == 0)
            player->statuses[i] = (uint64_t)count;
    }
}

static void take_trade(struct stage *stage, const struct player *player, const int64_t *numbers)
{
    stage->trades[stage->trade_count++ % STAGE_TRADES_SHOWN] =
        (struct stage_trade){ numbers[0], numbers[1], player->account.name };
}

static void take_line(void *context, struct crew_member *member, const char *line)
{
    struct stage *stage = context;
    char text[CREW_LINE_MAX];
    char *words[8];
    int64_t numbers[8] = { 0 };
    ptrdiff_t place = member - stage->members;
    struct player *player =
        place == STAGE_ORACLE ? &stage->oracle : &stage->players[place - STAGE_FIRST_PLAYER];
    if (place == STAGE_PERPD)
        return;
    snprintf(text, sizeof text, "%s", line);
    size_t count = split(text, words, CC_COUNT(words)), numeric = 0;
    for (size_t i = 1; i < count; i++)
        numeric += to_number(words[i], &numbers[i - 1]);
    if (count == 7 && numeric == 6 && strcmp(words[0], "stat") == 0)
        take_stat(player, numbers);
    else if (count == 3 && strcmp(words[0], "status") == 0)
        take_status(player, words[1], numbers[1]);
    else if (count == 3 && numeric == 2 && numbers[0] != 0 && strcmp(words[0], "trade") == 0)
        take_trade(stage, player, numbers);
    else if (count == 4 && numeric == 3 && strcmp(words[0], "stopped") == 0) {
        take_books(player, numbers);
        player->held = player->position;
        player->state = PLAYER_STOPPED;
    } else if (count == 1 && strcmp(words[0], "flattening") == 0) {
        player->state = PLAYER_FLATTENING;
    } else if (count == 5 && numeric == 4 && strcmp(words[0], "settled") == 0) {
        take_books(player, numbers);
        player->cash = numbers[3];
        player->state = PLAYER_SETTLED;
    }
}

void stage_listen(struct stage *stage, int timeout_ms)
{
    crew_listen(stage->members, STAGE_MEMBERS, timeout_ms, take_line, stage);
    for (int i = 0; i < STAGE_MEMBERS; i++) {
        struct crew_member *member = &stage->members[i];
        if (member->name[0] == '\0' || member->pid != 0)
            continue;
        stage_check(stage, false, "%s ended early, exit code %d; see %s/%s.log", member->name,
                    member->exit_code, stage->folder, i == STAGE_PERPD ? "perpd" : "players");
        member->name[0] = '\0'; /* said once */
    }
}

/* A port that is free now: `wanted` if it is, else any. */
static uint16_t free_port(uint16_t wanted)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                   .sin_port = htons(wanted) };
    socklen_t count = sizeof address;
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    bool good = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
                listen(fd, 1) == 0 && getsockname(fd, (struct sockaddr *)&address, &count) == 0;
    if (fd >= 0)
        close(fd);
    if (good)
        return ntohs(address.sin_port);
    return wanted != 0 ? free_port(0) : 0;
}

static void take_ready(void *context, struct crew_member *member, const char *line)
{
    struct stage *stage = context;
    (void)member;
    if (strncmp(line, "ready http://", 13) == 0)
        snprintf(stage->url, sizeof stage->url, "%s", line + 6);
}

static void show_log(const struct stage *stage, const char *name)
{
    char path[STAGE_PATH_MAX + 64], line[512];
    snprintf(path, sizeof path, "%s/%s", stage->folder, name);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    if (fseek(file, -2000, SEEK_END) != 0)
        rewind(file);
    while (fgets(line, sizeof line, file) != NULL)
        fprintf(stderr, "  | %s", line);
    fclose(file);
}

static bool start_perpd(struct stage *stage)
{
    char program[STAGE_PATH_MAX + 16], data[STAGE_PATH_MAX + 64], markets[STAGE_PATH_MAX + 64];
    char operator_key[128], oracle_key[128], listen_flag[64], admin_flag[64];
    char log[STAGE_PATH_MAX + 64], text[BASE64_TEXT_BYTES(32) + 1];
    uint16_t port = free_port(stage->seconds == 0 ? PORT_DEFAULT : 0), admin_port = free_port(0);
    struct crew_member *perpd = &stage->members[STAGE_PERPD];
    snprintf(program, sizeof program, "%s/perpd", stage->bin);
    snprintf(log, sizeof log, "%s/perpd.log", stage->folder);
    snprintf(data, sizeof data, "--store.data=%s/data", stage->folder);
    snprintf(markets, sizeof markets, "--exchange.markets=%s/markets.json", stage->folder);
    base64_encode(text, stage->provision.operator_key.public_key, 32);
    snprintf(operator_key, sizeof operator_key, "--exchange.operator_key=%s", text);
    base64_encode(text, stage->provision.oracle_key.public_key, 32);
    snprintf(oracle_key, sizeof oracle_key, "--exchange.oracle_keys=%s", text);
    snprintf(listen_flag, sizeof listen_flag, "--net.listen=127.0.0.1:%u", port);
    snprintf(admin_flag, sizeof admin_flag, "--admin.listen=127.0.0.1:%u", admin_port);
    snprintf(stage->admin_url, sizeof stage->admin_url, "http://127.0.0.1:%u", admin_port);
    const char *argv[] = { program,    data,        markets,    operator_key,
                           oracle_key, listen_flag, admin_flag, NULL };
    int error = crew_start(perpd, "perpd", argv, log, SIGTERM);
    if (error != 0) {
        fprintf(stderr, "demo: cannot start %s: %s\n", program, strerror(-error));
        return false;
    }
    uint64_t end_ns = instant_monotonic_ns() + (uint64_t)READY_MS * 1000000;
    while (stage->url[0] == '\0' && perpd->pid != 0 && instant_monotonic_ns() < end_ns &&
           interrupted == 0)
        crew_listen(perpd, 1, 100, take_ready, stage);
    if (stage->url[0] != '\0')
        return true;
    if (interrupted == 0) {
        fprintf(stderr, "demo: perpd %s:\n",
                perpd->pid == 0 ? "ended before it was ready" : "was not ready within 30 s");
        show_log(stage, "perpd.log");
    }
    return false;
}

static bool start_actor(struct stage *stage, int place, const char *role,
                        const struct provision_account *account, uint32_t rate)
{
    char program[STAGE_PATH_MAX + 16], feed[STAGE_PATH_MAX + 16], log[STAGE_PATH_MAX + 16];
    char id[24], seed[24], rate_text[16];
    snprintf(program, sizeof program, "%s/perp-demo", stage->bin);
    snprintf(feed, sizeof feed, "%s/feed", stage->folder);
    snprintf(log, sizeof log, "%s/players.log", stage->folder);
    snprintf(id, sizeof id, "%llu", (unsigned long long)account->account_id);
    snprintf(seed, sizeof seed, "%llu", 7919ull * (unsigned long long)(place + 1));
    snprintf(rate_text, sizeof rate_text, "%u", rate);
    const char *argv[] = { program,
                           role,
                           account->name,
                           stage->url,
                           PROVISION_MARKET,
                           account->key_path,
                           account->api_key_path[0] != '\0' ? account->api_key_path : "-",
                           id,
                           feed,
                           seed,
                           rate_text,
                           NULL };
    int error = crew_start(&stage->members[place], account->name, argv, log, SIGKILL);
    if (error != 0)
        fprintf(stderr, "demo: cannot start %s: %s\n", account->name, strerror(-error));
    return error == 0;
}

static bool fetch_record(struct stage *stage)
{
    char error[INSTRUMENT_ERROR_MAX];
    struct client_request request = { .method = "GET", .target = "/api/v1/markets" };
    struct client_answer answer;
    if (client_call(&stage->client, &request, &answer) != 0)
        fprintf(stderr, "demo: %s\n", stage->client.error);
    else if (answer.status != 200)
        fprintf(stderr, "demo: /api/v1/markets: HTTP %u %.*s\n", answer.status,
                (int)answer.body_count, answer.body);
    else if (!instrument_parse(&stage->record, answer.body, answer.body_count, PROVISION_MARKET,
                               error))
        fprintf(stderr, "demo: %s\n", error);
    else
        return true;
    return false;
}

static bool furnish(struct stage *stage)
{
    char path[STAGE_PATH_MAX + 64], name[PROVISION_NAME_MAX];
    struct provision *provision = &stage->provision;
    struct client *client = &stage->client;
    if (!client_init(client, stage->url, CLIENT_TIMEOUT_MS) ||
        !client_init(&stage->admin, stage->admin_url, CLIENT_TIMEOUT_MS) ||
        !provision_greet(provision, client) || !fetch_record(stage) ||
        !provision_price(provision, client))
        return false;
    for (int i = 0; i < STAGE_PLAYERS; i++) {
        bool maker = i < STAGE_MAKERS;
        snprintf(name, sizeof name, "%s-%d", maker ? "maker" : "taker",
                 1 + (maker ? i : i - STAGE_MAKERS));
        if (!provision_account(provision, client, name, PLAYER_DEPOSIT, &stage->players[i].account))
            return false;
    }
    snprintf(path, sizeof path, "%s/perp.ini", stage->folder);
    if (!provision_account(provision, client, "you", YOUR_DEPOSIT, &stage->you) ||
        !provision_profile(provision, stage->url, &stage->you, path))
        return false;
    snprintf(path, sizeof path, "%s/feed", stage->folder);
    stage->feed = feed_open(path);
    if (stage->feed != NULL)
        feed_set(stage->feed, PROVISION_PRICE);
    else
        fprintf(stderr, "demo: %s: %s\n", path, strerror(errno));
    return stage->feed != NULL;
}

static bool start_actors(struct stage *stage)
{
    struct provision_account *oracle = &stage->oracle.account;
    snprintf(oracle->name, sizeof oracle->name, "oracle");
    snprintf(oracle->key_path, sizeof oracle->key_path, "%s/oracle.key", stage->folder);
    if (!start_actor(stage, STAGE_ORACLE, "oracle", oracle, RATE_ORACLE))
        return false;
    for (int i = 0; i < STAGE_PLAYERS; i++) {
        bool maker = i < STAGE_MAKERS;
        if (!start_actor(stage, STAGE_FIRST_PLAYER + i, maker ? "maker" : "taker",
                         &stage->players[i].account, maker ? RATE_MAKER : RATE_TAKER))
            return false;
    }
    return true;
}

static void trade(struct stage *stage)
{
    uint64_t show_ms = stage->live ? SHOW_LIVE_MS : SHOW_PLAIN_MS;
    stage->begin_ns = instant_monotonic_ns();
    uint64_t end_ns =
        stage->seconds == 0 ? UINT64_MAX : stage->begin_ns + stage->seconds * NS_PER_S;
    uint64_t show_ns = stage->begin_ns;
    if (stage->live)
        printf("\033[2J");
    else
        stage_show_hints(stage);
    while (interrupted == 0 && stage->failures == 0) {
        uint64_t now_ns = instant_monotonic_ns();
        if (now_ns >= end_ns)
            break;
        if (now_ns >= show_ns) {
            stage_show(stage);
            show_ns = now_ns + show_ms * 1000000;
        }
        stage_listen(stage, 50);
    }
    stage->end_ns = instant_monotonic_ns();
}

static void check_trades(struct stage *stage, uint64_t trades)
{
    uint64_t enough = (uint64_t)stage->seconds * TRADES_PER_S;
    enough = enough > TRADES_ENOUGH ? TRADES_ENOUGH : enough;
    if (stage->at_least >= 0)
        enough = (uint64_t)stage->at_least;
    stage_check(stage, trades >= enough, "%llu trades in %.1f s (at least %llu wanted)",
                (unsigned long long)trades,
                (double)(stage->end_ns - stage->begin_ns) / (double)NS_PER_S,
                (unsigned long long)enough);
}

/* The stages that the node measured, and those without which the summary would be hollow. */
static void check_stages(struct stage *stage)
{
    struct client_request request = { .method = "GET", .target = "/metrics" };
    struct client_answer answer;
    if (client_call(&stage->admin, &request, &answer) == 0 && answer.status == 200)
        scrape_read(&stage->scrape, answer.body, answer.body_count);
    for (size_t i = 0; i < CC_COUNT(wanted_stages); i++) {
        bool found = false;
        for (uint32_t j = 0; j < stage->scrape.stage_count; j++)
            found = found || (strcmp(stage->scrape.stages[j].name, wanted_stages[i]) == 0 &&
                              scrape_quantile(&stage->scrape.stages[j], 0.99) >= 0);
        if (!found)
            stage_check(stage, false, "/metrics has no values of the stage '%s'", wanted_stages[i]);
    }
    stage_check(stage, stage->scrape.has_journal && stage->scrape.journal_record_bytes > 0,
                "journal: %llu records, %llu bytes of records, %llu bytes written",
                (unsigned long long)stage->scrape.journal_records,
                (unsigned long long)stage->scrape.journal_record_bytes,
                (unsigned long long)stage->scrape.journal_written_bytes);
}

static void summarize(struct stage *stage, uint64_t trades, uint64_t sent)
{
    double seconds = (double)(stage->end_ns - stage->begin_ns) / (double)NS_PER_S;
    uint64_t problems = stage->oracle.problems;
    printf("summary:\n  %llu signed requests, %.0f/s; %llu trades, %.0f/s\n",
           (unsigned long long)sent, (double)sent / seconds, (unsigned long long)trades,
           (double)trades / seconds);
    for (int i = 0; i < STATUS_COUNT; i++) {
        uint64_t count = stage_status(stage, (enum status)i);
        if (count > 0)
            printf("  %-10s %-52s %10llu\n",
                   i == STATUS_request_completed ? "accepted" : "rejected",
                   status_name((enum status)i), (unsigned long long)count);
    }
    for (int i = 0; i < STAGE_PLAYERS; i++)
        problems += stage->players[i].problems;
    printf("  %-34s %10s %13s\n", "stage (since the request came)", "p50", "p99");
    for (uint32_t i = 0; i < stage->scrape.stage_count; i++) {
        const struct scrape_stage *row = &stage->scrape.stages[i];
        if (scrape_quantile(row, 0.5) >= 0)
            printf("  %-34s %7.0f us %10.0f us\n", row->name, scrape_quantile(row, 0.5) / 1000,
                   scrape_quantile(row, 0.99) / 1000);
    }
    stage_check(stage, problems == 0, "%llu problem answers", (unsigned long long)problems);
}

static void end_all(struct stage *stage)
{
    for (int i = STAGE_MEMBERS - 1; i >= STAGE_ORACLE; i--)
        (void)crew_end(&stage->members[i], 0, STOP_MS);
    client_close(&stage->client);
    client_close(&stage->admin);
    struct crew_member *perpd = &stage->members[STAGE_PERPD];
    if (perpd->pid == 0)
        return;
    bool clean = crew_end(perpd, SIGTERM, STOP_MS);
    stage_check(stage, clean, "perpd drained and ended, exit code %d", perpd->exit_code);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
    (void)status;
    (void)type;
    (void)ftw;
    return remove(path);
}

static bool prepare(struct stage *stage, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int64_t seconds = 0;
        if (strcmp(argv[i], "--keep") == 0)
            stage->keep = true;
        else if (strcmp(argv[i], "--plain") == 0)
            stage->live = false;
        else if (strcmp(argv[i], "--seconds") == 0 && to_number(argv[i + 1], &seconds) &&
                 seconds >= 1 && seconds <= 86400)
            stage->seconds = (uint32_t)seconds, i++;
        else if (strcmp(argv[i], "--at-least") == 0 && to_number(argv[i + 1], &stage->at_least) &&
                 stage->at_least >= 0)
            i++;
        else {
            fprintf(stderr,
                    "demo: usage: [--seconds 1..86400] [--at-least TRADES] [--plain] [--keep]\n");
            return false;
        }
    }
    ssize_t count = readlink("/proc/self/exe", stage->bin, sizeof stage->bin - 64);
    stage->bin[count > 0 ? count : 0] = '\0';
    char *slash = strrchr(stage->bin, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    snprintf(stage->folder, sizeof stage->folder, "%.2900s/demo.XXXXXX", stage->bin);
    if (mkdtemp(stage->folder) == NULL) {
        fprintf(stderr, "demo: cannot make %s: %s\n", stage->folder, strerror(errno));
        return false;
    }
    return true;
}

static void play(struct stage *stage)
{
    if (!start_actors(stage)) {
        stage->failures++;
        return;
    }
    trade(stage);
    bool was_interrupted = stage_interrupted(); /* a second Ctrl-C ends the settling too */
    uint64_t trades = stage_trades(stage), sent = stage_sent(stage);
    if (stage->live)
        printf("\033[2J\033[H");
    if (stage->failures == 0)
        stage_settle(stage);
    if (stage->failures == 0 || interrupted == 0)
        check_stages(stage);
    if (stage->seconds != 0 && was_interrupted)
        stage_check(stage, false, "interrupted");
    else
        check_trades(stage, trades);
    summarize(stage, trades, sent);
}

int stage_run(int argc, char **argv)
{
    static struct stage stage = { .live = true, .at_least = -1 };
    struct sigaction action = { .sa_handler = on_signal };
    if (!isatty(STDOUT_FILENO))
        stage.live = false;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < STAGE_MEMBERS; i++)
        stage.members[i].to = stage.members[i].from = -1;
    if (!prepare(&stage, argc, argv))
        return 2;
    printf("perpd demo: data in %s\n", stage.folder);
    if (provision_files(&stage.provision, stage.folder) && start_perpd(&stage) && furnish(&stage))
        play(&stage);
    else
        stage.failures++;
    end_all(&stage);
    if (stage.failures == 0 && !stage.keep)
        (void)nftw(stage.folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    else
        printf("the demo's files are in %s\n", stage.folder);
    printf("%s\n", stage.failures == 0 ? "everything holds" : "something does not hold");
    return stage.failures == 0 ? 0 : 1;
}
