#include "perp_demo/scene.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "perp/request/instant.h"
#include "perp_demo/screen.h"

enum {
    STOP_MS = 120000,
    SHOW_LIVE_MS = 250,
    SHOW_PLAIN_MS = 2000,
    PORT_DEFAULT = 8080,
    TIMEOUT_MS = 60000,
    PATIENCE_MS = 120000,
    CHAOS_S = 10,
    LATE_FACTOR = 16,
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

const volatile sig_atomic_t *scene_interrupted(void)
{
    return &interrupted;
}

void scene_interrupt(void)
{
    interrupted = 1;
}

void scene_check(struct scene *scene, bool good, const char *format, ...)
{
    va_list arguments;
    screen_close(); /* what is said must stay */
    va_start(arguments, format);
    printf("  %-4s ", good ? "ok" : "FAIL");
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    scene->failures += !good;
}

static bool start_actor(struct scene *scene, int place, const struct player *player)
{
    const struct provision_account *account = &player->account;
    char program[SCENE_PATH_MAX + 16], feed[SCENE_PATH_MAX + 16], log[SCENE_PATH_MAX + 16];
    char id[24], seed[24], patience[16];
    snprintf(program, sizeof program, "%s/perp-demo", scene->bin);
    snprintf(feed, sizeof feed, "%s/feed", scene->folder);
    snprintf(log, sizeof log, "%s/players.log", scene->folder);
    snprintf(id, sizeof id, "%llu", (unsigned long long)account->account_id);
    snprintf(seed, sizeof seed, "%llu", 7919ull * (unsigned long long)(place + 1));
    snprintf(patience, sizeof patience, "%d",
             scene->chaos || scene->live || scene->wants_cluster ? PATIENCE_MS : 0);
    const char *argv[] = { program,
                           player->role->name,
                           account->name,
                           scene->server.url,
                           account->key_path,
                           account->api_key_path[0] != '\0' ? account->api_key_path : "-",
                           id,
                           feed,
                           seed,
                           patience,
                           NULL };
    int error = crew_start(&scene->members[place], account->name, argv, log, SIGKILL);
    if (error != 0)
        fprintf(stderr, "demo: cannot start %s: %s\n", account->name, strerror(-error));
    return error == 0;
}

static bool fetch_records(struct scene *scene)
{
    char error[INSTRUMENT_ERROR_MAX] = "";
    struct client_request request = { .method = "GET", .target = "/api/v1/markets" };
    struct client_answer answer;
    if (client_call(&scene->client, &request, &answer) != 0) {
        fprintf(stderr, "demo: %s\n", scene->client.error);
        return false;
    }
    for (uint32_t i = 0; i < LISTING_MARKETS; i++) {
        if (answer.status != 200 ||
            !instrument_parse(&scene->records[i], answer.body, answer.body_count,
                              listing_at(i)->market, error)) {
            fprintf(stderr, "demo: /api/v1/markets: HTTP %u %s\n", answer.status, error);
            return false;
        }
    }
    return true;
}

/* The players in the order of the table, each with an account. */
static bool furnish_players(struct scene *scene)
{
    struct player *player = scene->players;
    for (int i = 0; i < ROLE_COUNT; i++) {
        const struct role *role = role_at((enum role_index)i);
        for (uint32_t j = 0; i != ROLE_oracle && j < role->count; j++, player++) {
            char name[PROVISION_NAME_MAX];
            if (role->count > 1)
                snprintf(name, sizeof name, "%s-%u", role->name, j + 1);
            else
                snprintf(name, sizeof name, "%s", role->name);
            player->role = role;
            if (!provision_account(&scene->provision, &scene->client, name, PLAYER_DEPOSIT,
                                   &player->account) ||
                (role->leverage != 0 &&
                 !provision_leverage(&scene->client, &player->account, role->leverage)))
                return false;
        }
    }
    INVARIANT(player == scene->players + SCENE_PLAYERS);
    return true;
}

static bool furnish(struct scene *scene)
{
    char path[SCENE_PATH_MAX + 64];
    struct provision *provision = &scene->provision;
    struct client *client = &scene->client;
    snprintf(path, sizeof path, "%s/data", scene->folder);
    if (!client_init(&scene->admin, scene->server.admin_url, TIMEOUT_MS) ||
        !client_read_token(&scene->admin, path)) {
        fprintf(stderr, "demo: %s\n", scene->admin.error);
        return false;
    }
    snprintf(path, sizeof path, "%s/perp.ini", scene->folder);
    if (!client_init(client, scene->server.url, TIMEOUT_MS) ||
        !provision_greet(provision, client) || !fetch_records(scene) ||
        !provision_prices(provision, client) || !furnish_players(scene) ||
        !provision_account(provision, client, "you", YOUR_DEPOSIT, &scene->you) ||
        !provision_profile(provision, scene->server.url, &scene->you, path))
        return false;
    snprintf(path, sizeof path, "%s/feed", scene->folder);
    scene->feed = feed_open(path);
    if (scene->feed == NULL) {
        fprintf(stderr, "demo: %s: %s\n", path, strerror(errno));
        return false;
    }
    for (uint32_t i = 0; i < LISTING_MARKETS; i++)
        feed_set(scene->feed, i, listing_at(i)->price);
    return true;
}

static bool start_actors(struct scene *scene)
{
    struct provision_account *oracle = &scene->oracle.account;
    scene->oracle.role = role_at(ROLE_oracle);
    snprintf(oracle->name, sizeof oracle->name, "oracle");
    snprintf(oracle->key_path, sizeof oracle->key_path, "%s/oracle.key", scene->folder);
    if (!start_actor(scene, SCENE_ORACLE, &scene->oracle))
        return false;
    for (int i = 0; i < SCENE_PLAYERS; i++) {
        if (!start_actor(scene, SCENE_FIRST_PLAYER + i, &scene->players[i]))
            return false;
    }
    return true;
}

/* Kills perpd when it is time, after HURRY_MS in which all trade as fast as they can. False: it did
 * not come back. */
static bool kill_in_time(struct scene *scene, uint64_t now_ns)
{
    if (scene->wants_cluster)
        scene_cluster_step(scene, now_ns);
    if (scene->killed_ns != 0 || scene->kill_ns == UINT64_MAX || scene->wants_cluster)
        return true;
    feed_set_hurry(scene->feed, now_ns + HURRY_MS * NS_PER_MS >= scene->kill_ns);
    return now_ns < scene->kill_ns || scene_chaos(scene);
}

/* In the middle of a run with an end; of a cluster after CHAOS_S at the latest, for more follow. */
static uint64_t first_kill_ns(const struct scene *scene)
{
    uint64_t middle_ns = scene->seconds * NS_PER_S / 2;

    if (scene->seconds == 0 || (scene->wants_cluster && middle_ns > CHAOS_S * NS_PER_S))
        return CHAOS_S * NS_PER_S;
    return middle_ns;
}

static void trade(struct scene *scene)
{
    uint64_t show_ms = scene->live ? SHOW_LIVE_MS : SHOW_PLAIN_MS;
    scene->begin_ns = instant_monotonic_ns();
    scene->kill_ns = UINT64_MAX;
    if (scene->chaos)
        scene->kill_ns = scene->begin_ns + first_kill_ns(scene);
    uint64_t end_ns =
        scene->seconds == 0 ? UINT64_MAX : scene->begin_ns + scene->seconds * NS_PER_S;
    /* A busy machine takes longer for as many trades; one that hangs is noticed. */
    uint64_t late_ns = scene->begin_ns + LATE_FACTOR * scene->seconds * NS_PER_S;
    uint64_t show_ns = scene->begin_ns;
    scene->live = scene->live && scene_live_begin(scene);
    if (!scene->live)
        scene_show_hints(scene);
    while (interrupted == 0 && scene->failures == 0) {
        uint64_t now_ns = instant_monotonic_ns();
        if (now_ns >= end_ns && (now_ns >= late_ns || scene_sum_is_enough(scene)))
            break;
        if (!kill_in_time(scene, now_ns)) {
            scene_check(scene, false, "perpd comes back on its data; see %s/perpd.log",
                        scene->folder);
            break;
        }
        if (scene->live && scene_live_key(scene))
            show_ns = now_ns;
        if (now_ns >= show_ns) {
            (scene->live ? scene_live_show : scene_show)(scene);
            show_ns = now_ns + show_ms * 1000000;
        }
        scene_listen(scene, 50);
    }
    scene->end_ns = instant_monotonic_ns();
}

static void end_all(struct scene *scene)
{
    for (int i = SCENE_MEMBERS - 1; i >= SCENE_ORACLE; i--)
        (void)crew_end(&scene->members[i], 0, STOP_MS);
    client_close(&scene->client);
    client_close(&scene->admin);
    if (scene->cluster.is_on)
        scene_check(scene, cluster_end(&scene->cluster, STOP_MS),
                    "the three perpd drained and ended");
    struct crew_member *perpd = &scene->members[SCENE_PERPD];
    if (perpd->pid == 0)
        return;
    bool clean = crew_end(perpd, SIGTERM, STOP_MS);
    scene_check(scene, clean, "perpd drained and ended, exit code %d", perpd->exit_code);
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

/* The value of option argv[i], a whole number; false after a sentence about it. */
static bool flag_number(char **argv, int i, int64_t least, int64_t most, int64_t *value)
{
    if (argv[i + 1] == NULL)
        fprintf(stderr, "perp-demo: %s needs a value: a whole number of %lld to %lld\n", argv[i],
                (long long)least, (long long)most);
    else if (!to_number(argv[i + 1], least, most, value))
        fprintf(stderr, "perp-demo: %s '%.60s' is no whole number of %lld to %lld\n", argv[i],
                argv[i + 1], (long long)least, (long long)most);
    else
        return true;
    return false;
}

static bool flag_topology(char **argv, int i, const char **topology)
{
    static const char *const words[] = { "auto", "shared", "dedicated" };

    for (unsigned word = 0; argv[i + 1] != NULL && word < CC_COUNT(words); word++)
        if (strcmp(argv[i + 1], words[word]) == 0) {
            *topology = argv[i + 1];
            return true;
        }
    fprintf(stderr, "perp-demo: --topology needs a value: auto, shared or dedicated\n");
    return false;
}

static bool read_flags(struct scene *scene, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int64_t seconds = 0;
        if (strcmp(argv[i], "--keep") == 0)
            scene->keep = true;
        else if (strcmp(argv[i], "--plain") == 0)
            scene->live = false;
        else if (strcmp(argv[i], "--chaos") == 0)
            scene->chaos = true;
        else if (strcmp(argv[i], "--cluster") == 0)
            scene->wants_cluster = true;
        else if (strcmp(argv[i], "--seconds") == 0) {
            if (!flag_number(argv, i++, 1, 86400, &seconds))
                return false;
            scene->seconds = (uint32_t)seconds;
        } else if (strcmp(argv[i], "--at-least") == 0) {
            if (!flag_number(argv, i++, 0, INT64_MAX, &scene->at_least))
                return false;
        } else if (strcmp(argv[i], "--topology") == 0) {
            if (!flag_topology(argv, i++, &scene->server.topology))
                return false;
        } else {
            fprintf(stderr, "perp-demo: unknown option %.60s (perp-demo --help lists them)\n",
                    argv[i]);
            return false;
        }
    }
    return true;
}

static bool prepare(struct scene *scene, int argc, char **argv)
{
    if (!read_flags(scene, argc, argv) ||
        (scene->wants_cluster && !cluster_find_etcd(&scene->cluster)))
        return false;
    ssize_t count = readlink("/proc/self/exe", scene->bin, sizeof scene->bin - 64);
    scene->bin[count > 0 ? count : 0] = '\0';
    char *slash = strrchr(scene->bin, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    snprintf(scene->folder, sizeof scene->folder, "%.2900s/demo.XXXXXX", scene->bin);
    if (mkdtemp(scene->folder) == NULL) {
        fprintf(stderr, "demo: cannot make %s: %s\n", scene->folder, strerror(errno));
        return false;
    }
    scene->server.bin = scene->bin;
    scene->server.folder = scene->folder;
    server_choose_ports(&scene->server, scene->seconds == 0 ? PORT_DEFAULT : 0);
    return true;
}

static void play(struct scene *scene)
{
    if (!start_actors(scene)) {
        scene->failures++;
        return;
    }
    trade(scene);
    bool was_interrupted = interrupted != 0;
    interrupted = 0; /* a second Ctrl-C ends the finish too */
    screen_close();
    if (scene->failures == 0)
        scene_finish(scene);
    if (scene->seconds != 0 && was_interrupted)
        scene_check(scene, false, "interrupted");
    else
        scene_sum_check(scene);
    scene_sum_show(scene);
}

int scene_run(int argc, char **argv)
{
    static struct scene scene = { .live = true, .at_least = -1 };
    struct sigaction action = { .sa_handler = on_signal };
    if (!isatty(STDOUT_FILENO))
        scene.live = false;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < SCENE_MEMBERS; i++)
        scene.members[i].to = scene.members[i].from = -1;
    if (!prepare(&scene, argc, argv))
        return 2;
    printf("perpd demo: data in %s\n", scene.folder);
    if (provision_files(&scene.provision, scene.folder) &&
        server_start(&scene.server, &scene.members[SCENE_PERPD], &scene.provision, &interrupted) &&
        furnish(&scene) && (!scene.wants_cluster || scene_cluster_begin(&scene)))
        play(&scene);
    else
        scene.failures++;
    end_all(&scene);
    if (scene.failures == 0 && !scene.keep)
        (void)nftw(scene.folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    else
        printf("the demo's files are in %s\n", scene.folder);
    printf("%s\n", scene.failures == 0 ? "everything holds" : "something does not hold");
    return scene.failures == 0 ? 0 : 1;
}
