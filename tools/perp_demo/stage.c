#include "perp_demo/stage.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "perp/request/instant.h"

enum {
    STOP_MS = 120000,
    SHOW_LIVE_MS = 250,
    SHOW_PLAIN_MS = 2000,
    PORT_DEFAULT = 8080,
    TIMEOUT_MS = 60000,
    PATIENCE_MS = 120000,
    CHAOS_S = 10,
    HURRY_MS = 400
};

#define NS_PER_S       UINT64_C(1000000000)
#define NS_PER_MS      UINT64_C(1000000)
#define PLAYER_DEPOSIT INT64_C(100000000000000) /* 100,000,000 USDC: fees of many days */
#define YOUR_DEPOSIT   INT64_C(100000000000)    /* 100,000 USDC */

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

const volatile sig_atomic_t *stage_interrupted(void)
{
    return &interrupted;
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

static bool start_actor(struct stage *stage, int place, const struct player *player)
{
    const struct provision_account *account = &player->account;
    char program[STAGE_PATH_MAX + 16], feed[STAGE_PATH_MAX + 16], log[STAGE_PATH_MAX + 16];
    char id[24], seed[24], patience[16];
    snprintf(program, sizeof program, "%s/perp-demo", stage->bin);
    snprintf(feed, sizeof feed, "%s/feed", stage->folder);
    snprintf(log, sizeof log, "%s/players.log", stage->folder);
    snprintf(id, sizeof id, "%llu", (unsigned long long)account->account_id);
    snprintf(seed, sizeof seed, "%llu", 7919ull * (unsigned long long)(place + 1));
    snprintf(patience, sizeof patience, "%d", stage->chaos ? PATIENCE_MS : 0);
    const char *argv[] = { program,
                           player->role->name,
                           account->name,
                           stage->server.url,
                           account->key_path,
                           account->api_key_path[0] != '\0' ? account->api_key_path : "-",
                           id,
                           feed,
                           seed,
                           patience,
                           NULL };
    int error = crew_start(&stage->members[place], account->name, argv, log, SIGKILL);
    if (error != 0)
        fprintf(stderr, "demo: cannot start %s: %s\n", account->name, strerror(-error));
    return error == 0;
}

static bool fetch_records(struct stage *stage)
{
    char error[INSTRUMENT_ERROR_MAX] = "";
    struct client_request request = { .method = "GET", .target = "/api/v1/markets" };
    struct client_answer answer;
    if (client_call(&stage->client, &request, &answer) != 0) {
        fprintf(stderr, "demo: %s\n", stage->client.error);
        return false;
    }
    for (uint32_t i = 0; i < LISTING_MARKETS; i++) {
        if (answer.status != 200 ||
            !instrument_parse(&stage->records[i], answer.body, answer.body_count,
                              listing_at(i)->market, error)) {
            fprintf(stderr, "demo: /api/v1/markets: HTTP %u %s\n", answer.status, error);
            return false;
        }
    }
    return true;
}

/* The players in the order of the table, each with an account. */
static bool furnish_players(struct stage *stage)
{
    struct player *player = stage->players;
    for (int i = 0; i < ROLE_COUNT; i++) {
        const struct role *role = role_at((enum role_index)i);
        for (uint32_t j = 0; i != ROLE_oracle && j < role->count; j++, player++) {
            char name[PROVISION_NAME_MAX];
            if (role->count > 1)
                snprintf(name, sizeof name, "%s-%u", role->name, j + 1);
            else
                snprintf(name, sizeof name, "%s", role->name);
            player->role = role;
            if (!provision_account(&stage->provision, &stage->client, name, PLAYER_DEPOSIT,
                                   &player->account) ||
                (role->leverage != 0 &&
                 !provision_leverage(&stage->client, &player->account, role->leverage)))
                return false;
        }
    }
    INVARIANT(player == stage->players + STAGE_PLAYERS);
    return true;
}

static bool furnish(struct stage *stage)
{
    char path[STAGE_PATH_MAX + 64];
    struct provision *provision = &stage->provision;
    struct client *client = &stage->client;
    snprintf(path, sizeof path, "%s/perp.ini", stage->folder);
    if (!client_init(client, stage->server.url, TIMEOUT_MS) ||
        !client_init(&stage->admin, stage->server.admin_url, TIMEOUT_MS) ||
        !provision_greet(provision, client) || !fetch_records(stage) ||
        !provision_prices(provision, client) || !furnish_players(stage) ||
        !provision_account(provision, client, "you", YOUR_DEPOSIT, &stage->you) ||
        !provision_profile(provision, stage->server.url, &stage->you, path))
        return false;
    snprintf(path, sizeof path, "%s/feed", stage->folder);
    stage->feed = feed_open(path);
    if (stage->feed == NULL) {
        fprintf(stderr, "demo: %s: %s\n", path, strerror(errno));
        return false;
    }
    for (uint32_t i = 0; i < LISTING_MARKETS; i++)
        feed_set(stage->feed, i, listing_at(i)->price);
    return true;
}

static bool start_actors(struct stage *stage)
{
    struct provision_account *oracle = &stage->oracle.account;
    stage->oracle.role = role_at(ROLE_oracle);
    snprintf(oracle->name, sizeof oracle->name, "oracle");
    snprintf(oracle->key_path, sizeof oracle->key_path, "%s/oracle.key", stage->folder);
    if (!start_actor(stage, STAGE_ORACLE, &stage->oracle))
        return false;
    for (int i = 0; i < STAGE_PLAYERS; i++) {
        if (!start_actor(stage, STAGE_FIRST_PLAYER + i, &stage->players[i]))
            return false;
    }
    return true;
}

/* When perpd is killed: in the middle of a run with an end. */
static uint64_t chaos_ns(const struct stage *stage)
{
    if (!stage->chaos)
        return UINT64_MAX;
    return stage->begin_ns +
           (stage->seconds == 0 ? CHAOS_S * NS_PER_S : stage->seconds * NS_PER_S / 2);
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
        if (stage->chaos && stage->killed_ns == 0)
            feed_set_hurry(stage->feed, now_ns + HURRY_MS * NS_PER_MS >= chaos_ns(stage));
        if (now_ns >= chaos_ns(stage) && stage->killed_ns == 0 && !stage_chaos(stage)) {
            stage->failures++;
            break;
        }
        if (now_ns >= show_ns) {
            stage_show(stage);
            show_ns = now_ns + show_ms * 1000000;
        }
        stage_hear(stage, 50);
    }
    stage->end_ns = instant_monotonic_ns();
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

static bool to_number(const char *text, int64_t least, int64_t most, int64_t *value)
{
    return text != NULL && decimal_parse(text, strlen(text), 0, least, most, value) == DECIMAL_OK;
}

static bool read_flags(struct stage *stage, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int64_t seconds = 0;
        if (strcmp(argv[i], "--keep") == 0)
            stage->keep = true;
        else if (strcmp(argv[i], "--plain") == 0)
            stage->live = false;
        else if (strcmp(argv[i], "--chaos") == 0)
            stage->chaos = true;
        else if (strcmp(argv[i], "--seconds") == 0 && to_number(argv[i + 1], 1, 86400, &seconds))
            stage->seconds = (uint32_t)seconds, i++;
        else if (strcmp(argv[i], "--at-least") == 0 &&
                 to_number(argv[i + 1], 0, INT64_MAX, &stage->at_least))
            i++;
        else if (strcmp(argv[i], "--topology") == 0 && argv[i + 1] != NULL)
            stage->server.topology = argv[++i];
        else
            return false;
    }
    return true;
}

static bool prepare(struct stage *stage, int argc, char **argv)
{
    if (!read_flags(stage, argc, argv)) {
        fprintf(stderr,
                "demo: usage: [--seconds 1..86400] [--chaos] [--topology WORD] [--at-least TRADES] "
                "[--plain] [--keep]\n");
        return false;
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
    stage->server.bin = stage->bin;
    stage->server.folder = stage->folder;
    server_choose_ports(&stage->server, stage->seconds == 0 ? PORT_DEFAULT : 0);
    return true;
}

static void play(struct stage *stage)
{
    if (!start_actors(stage)) {
        stage->failures++;
        return;
    }
    trade(stage);
    bool was_interrupted = interrupted != 0;
    interrupted = 0; /* a second Ctrl-C ends the settling too */
    if (stage->live)
        printf("\033[2J\033[H");
    if (stage->failures == 0)
        stage_settle(stage);
    if (stage->seconds != 0 && was_interrupted)
        stage_check(stage, false, "interrupted");
    else
        stage_sum_check(stage);
    stage_sum_show(stage);
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
    if (provision_files(&stage.provision, stage.folder) &&
        server_start(&stage.server, &stage.members[STAGE_PERPD], &stage.provision, &interrupted) &&
        furnish(&stage))
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
