#include "perp_demo/actor.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "perp/instant.h"

enum { ARGUMENTS = 11, LINE_MAX_BYTES = 256, TIMEOUT_MS = 10000, STAT_NS = 200000000 };

#define NS_PER_S UINT64_C(1000000000)

typedef void turn(struct bot *bot);

struct actor {
    struct bot bot;
    turn *turn;
    uint64_t interval_ns;
    uint64_t reported[STATUS_COUNT];
    bool stopped;
    char line[LINE_MAX_BYTES];
    size_t line_count;
};

static bool number(const char *text, uint64_t *value)
{
    int64_t parsed;
    if (decimal_parse(text, strlen(text), 0, 0, INT64_MAX, &parsed) != DECIMAL_OK)
        return false;
    *value = (uint64_t)parsed;
    return true;
}

static void say_int128(const char *before, int128 value, const char *after)
{
    char text[DECIMAL_TEXT_MAX];
    decimal_format(text, value, 0);
    printf("%s%s%s", before, text, after);
}

static void report(struct actor *actor)
{
    const struct bot *bot = &actor->bot;
    printf("stat %llu %llu %llu %lld %llu %llu\n", (unsigned long long)bot->sent,
           (unsigned long long)bot->trades, (unsigned long long)bot->problems,
           (long long)bot->position,
           (unsigned long long)histogram_quantile(&bot->round_trip, 500000),
           (unsigned long long)histogram_quantile(&bot->round_trip, 990000));
    for (int i = 0; i < STATUS_COUNT; i++) {
        if (bot->statuses[i] != actor->reported[i])
            printf("status %s %llu\n", status_name((enum status)i),
                   (unsigned long long)bot->statuses[i]);
        actor->reported[i] = bot->statuses[i];
    }
    fflush(stdout);
}

static bool any_used(const struct bot *bot)
{
    for (int slot = 0; slot < BOT_SLOTS_MAX; slot++) {
        if (bot->slots[slot].used)
            return true;
    }
    return false;
}

/* Reads every order until all have ended; gives up after a while (the stage then says so). */
static void read_to_the_end(struct bot *bot)
{
    const struct timespec pause = { .tv_nsec = 20000000 };
    for (int tries = 0; any_used(bot) && tries < 250; tries++) {
        for (uint32_t slot = 0; slot < BOT_SLOTS_MAX; slot++) {
            if (bot->slots[slot].used)
                bot_read(bot, slot);
        }
        bot_flush(bot);
        if (any_used(bot))
            (void)nanosleep(&pause, NULL);
    }
}

static void say_books(const char *word, const struct bot *bot)
{
    printf("%s %lld", word, (long long)bot->position);
    say_int128(" ", bot->notional, "");
    say_int128(" ", bot->gross, "");
}

static void stop(struct actor *actor)
{
    if (actor->turn != actor_turn_oracle) {
        bot_cancel_all(&actor->bot);
        bot_flush(&actor->bot);
        read_to_the_end(&actor->bot);
    }
    actor->stopped = actor->turn != actor_turn_oracle; /* the oracle goes on: marks must live */
    report(actor);
    say_books("stopped", &actor->bot);
    printf("\n");
}

static void flatten(struct actor *actor, const char *text)
{
    uint64_t price;
    struct bot *bot = &actor->bot;
    if (number(text, &price) && bot->position != 0 && !bot->slots[0].used) {
        struct bot_wish wish = { .quantity = -bot->position,
                                 .price = (int64_t)price,
                                 .expiry = UINT64_MAX,
                                 .reduce_only = true };
        bot_place(bot, 0, &wish);
        bot_flush(bot);
        report(actor);
    }
    printf("flattening\n");
}

static void settle(struct actor *actor)
{
    read_to_the_end(&actor->bot);
    bot_balance(&actor->bot);
    bot_flush(&actor->bot);
    report(actor);
    say_books("settled", &actor->bot);
    printf(" %lld\n", (long long)actor->bot.cash);
}

static void obey(struct actor *actor, const char *line)
{
    if (strcmp(line, "stop") == 0)
        stop(actor);
    else if (strncmp(line, "flatten ", 8) == 0)
        flatten(actor, line + 8);
    else if (strcmp(line, "settle") == 0)
        settle(actor);
    fflush(stdout);
}

/* Waits at most `wait_ns` for the stage's words. False: it is gone. */
static bool listen_to_stage(struct actor *actor, uint64_t wait_ns)
{
    struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
    const struct timespec wait = { .tv_sec = (time_t)(wait_ns / NS_PER_S),
                                   .tv_nsec = (long)(wait_ns % NS_PER_S) };
    if (ppoll(&input, 1, &wait, NULL) <= 0)
        return true;
    char text[LINE_MAX_BYTES];
    ssize_t count = read(STDIN_FILENO, text, sizeof text);
    if (count <= 0)
        return count < 0 && errno == EINTR;
    for (ssize_t i = 0; i < count; i++) {
        if (text[i] == '\n') {
            actor->line[actor->line_count] = '\0';
            obey(actor, actor->line);
            actor->line_count = 0;
        } else if (actor->line_count + 1 < sizeof actor->line) {
            actor->line[actor->line_count++] = text[i];
        }
    }
    return true;
}

static bool fetch_market(struct bot *bot, const char *market)
{
    char error[INSTRUMENT_ERROR_MAX];
    struct client_request request = { .method = "GET", .target = "/api/v1/markets" };
    struct client_answer answer;
    if (client_call(&bot->client, &request, &answer) != 0)
        fprintf(stderr, "%s: %s\n", bot->name, bot->client.error);
    else if (!instrument_parse(&bot->record, answer.body, answer.body_count, market, error))
        fprintf(stderr, "%s: %s\n", bot->name, error);
    else
        return true;
    return false;
}

static bool read_api_key(struct bot *bot, const char *path)
{
    if (strcmp(path, "-") == 0)
        return true;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    size_t count = fread(bot->api_key, 1, sizeof bot->api_key - 1, file);
    fclose(file);
    bot->api_key[count] = '\0';
    bot->api_key[strcspn(bot->api_key, "\n")] = '\0';
    return count > 0;
}

static bool begin(struct actor *actor, char **argv)
{
    struct bot *bot = &actor->bot;
    char error[KEY_FILE_ERROR_MAX];
    uint64_t rate;
    snprintf(bot->name, sizeof bot->name, "%s", argv[2]);
    actor->turn = strcmp(argv[1], "maker") == 0   ? actor_turn_maker
                  : strcmp(argv[1], "taker") == 0 ? actor_turn_taker
                                                  : actor_turn_oracle;
    if (!number(argv[7], &bot->portfolio.account_id) || !number(argv[9], &bot->random) ||
        !number(argv[10], &rate) || rate == 0 || bot->random == 0) {
        fprintf(stderr, "%s: a number is wrong\n", bot->name);
        return false;
    }
    actor->interval_ns = NS_PER_S / rate;
    bot->sends_frames = actor->turn == actor_turn_taker; /* so both forms are in use */
    bot->feed = feed_open(argv[8]);
    if (bot->feed == NULL || !read_api_key(bot, argv[6])) {
        fprintf(stderr, "%s: %s: %s\n", bot->name, bot->feed == NULL ? argv[8] : argv[6],
                strerror(errno));
        return false;
    }
    if (!client_init(&bot->client, argv[3], TIMEOUT_MS) ||
        !key_file_read(&bot->key, argv[5], error)) {
        fprintf(stderr, "%s: %s\n", bot->name,
                bot->client.error[0] != '\0' ? bot->client.error : error);
        return false;
    }
    return fetch_market(bot, argv[4]);
}

int actor_run(int argc, char **argv)
{
    static struct actor actor;
    if (argc != ARGUMENTS || !begin(&actor, argv))
        return 1;
    uint64_t next_ns = instant_monotonic_ns(), stat_ns = next_ns;
    for (bool present = true; present;) {
        uint64_t now_ns = instant_monotonic_ns();
        if (now_ns >= next_ns && !actor.stopped) {
            actor.turn(&actor.bot);
            next_ns += actor.interval_ns;
            if (next_ns < now_ns)
                next_ns = now_ns; /* behind: no bursts to catch up */
        }
        if (now_ns >= stat_ns) {
            report(&actor);
            stat_ns = now_ns + STAT_NS;
        }
        now_ns = instant_monotonic_ns();
        uint64_t until_ns = actor.stopped || stat_ns < next_ns ? stat_ns : next_ns;
        present = listen_to_stage(&actor, until_ns > now_ns ? until_ns - now_ns : 0);
    }
    client_close(&actor.bot.client);
    key_file_wipe(&actor.bot.key);
    return 0;
}
