/* scene_listen.c - the lines that the actors tell the scene (actor.h). */
#include <stdio.h>

#include "perp_demo/scene.h"

enum { WORDS_MAX = 12 };

/* A line taken apart: its first word, and the others as numbers where they are numbers. */
struct told {
    const char *word, *name;
    size_t count; /* words after the first */
    size_t numeric;
    int64_t numbers[WORDS_MAX];
};

static void split_words(struct told *told, char *line)
{
    char *rest = line;
    *told = (struct told){ .word = strsep(&rest, " ") };
    for (char *word; rest != NULL && told->count < WORDS_MAX;) {
        word = strsep(&rest, " ");
        told->name = told->count == 0 ? word : told->name;
        told->numeric += decimal_parse(word, strlen(word), 0, INT64_MIN + 1, INT64_MAX,
                                       &told->numbers[told->count]) == DECIMAL_OK;
        told->count++;
    }
}

static bool says(const struct told *told, const char *word, size_t numbers)
{
    return strcmp(told->word, word) == 0 && told->count == numbers && told->numeric == numbers;
}

static void accept_stat(struct player *player, const int64_t *numbers)
{
    player->sent = (uint64_t)numbers[0];
    player->trades = (uint64_t)numbers[1];
    player->problems = (uint64_t)numbers[2];
    player->postponed = (uint64_t)numbers[3];
    player->p50_ns = (uint64_t)numbers[4];
    player->p99_ns = (uint64_t)numbers[5];
}

static void accept_status(struct player *player, const char *name, int64_t count)
{
    for (int i = 0; i < STATUS_COUNT; i++) {
        if (strcmp(name, status_name((enum status)i)) == 0)
            player->statuses[i] = (uint64_t)count;
    }
}

static void accept_trade(struct scene *scene, const int64_t *numbers)
{
    struct scene_market *market = &scene->markets[numbers[0]];
    market->trades++;
    market->notional += numbers[2];
}

static bool is_market(int64_t place)
{
    return place >= 0 && place < LISTING_MARKETS;
}

/* A player comes to each state once; acknowledgements are proved only after perpd was killed. */
static void move(struct player *player, enum player_state next)
{
    static const uint8_t moves[] = {
        [PLAYER_TRADING] = 1u << PLAYER_STOPPED,
        [PLAYER_STOPPED] = 1u << PLAYER_PROVED | 1u << PLAYER_FLATTENING,
        [PLAYER_PROVED] = 1u << PLAYER_FLATTENING,
        [PLAYER_FLATTENING] = 1u << PLAYER_FINISHED,
        [PLAYER_FINISHED] = 0,
    };
    INVARIANT((moves[player->state] >> next & 1u) != 0);
    player->state = next;
}

/* Lines of the end: sums of lists, and the states that a player comes to. */
static void accept_end(struct player *player, const struct told *told)
{
    const int64_t *numbers = told->numbers;
    struct player_sum sum = { numbers[1], numbers[2], numbers[3], numbers[4] };
    if (says(told, "orders", 5) && is_market(numbers[0])) {
        player->orders[numbers[0]] = sum;
    } else if (says(told, "fills", 5) && is_market(numbers[0])) {
        player->fills[numbers[0]] = sum;
    } else if (says(told, "statement", 4)) {
        player->complete = numbers[0] == 1;
        player->odd_fees = numbers[1];
        player->out_of_turn = numbers[2];
        player->accepted_orders = numbers[3];
    } else if (says(told, "stopped", 0)) {
        for (int i = 0; i < LISTING_MARKETS; i++)
            player->held[i] = player->own[i].position;
        move(player, PLAYER_STOPPED);
    } else if (says(told, "proved", 0)) {
        move(player, PLAYER_PROVED);
    } else if (says(told, "flattening", 0)) {
        move(player, PLAYER_FLATTENING);
    } else if (says(told, "finished", 1)) {
        player->cash = numbers[0];
        move(player, PLAYER_FINISHED);
    }
}

static void accept_report(struct scene *scene, struct player *player, const struct told *told)
{
    const int64_t *numbers = told->numbers;
    if (says(told, "stat", 6)) {
        accept_stat(player, numbers);
    } else if (strcmp(told->word, "status") == 0 && told->count == 2) {
        accept_status(player, told->name, numbers[1]);
    } else if (says(told, "trade", 3) && is_market(numbers[0]) && numbers[1] != 0) {
        accept_trade(scene, numbers);
    } else if (says(told, "own", 4) && is_market(numbers[0])) {
        player->own[numbers[0]] = (struct player_book){ numbers[1], numbers[2], numbers[3] };
    } else if (says(told, "position", 2) && is_market(numbers[0])) {
        player->positions[numbers[0]] = numbers[1];
    } else if (says(told, "proof", 9)) {
        player->proof =
            (struct player_proof){ numbers[0], numbers[1], numbers[2], numbers[3], numbers[4],
                                   numbers[5], numbers[6], numbers[7], numbers[8] };
    } else {
        accept_end(player, told);
    }
}

static void accept_line(void *context, struct crew_member *member, const char *line)
{
    struct scene *scene = context;
    ptrdiff_t place = member - scene->members;
    char text[CREW_LINE_MAX];
    struct told told;
    if (place == SCENE_PERPD)
        return;
    snprintf(text, sizeof text, "%s", line);
    split_words(&told, text);
    accept_report(
        scene, place == SCENE_ORACLE ? &scene->oracle : &scene->players[place - SCENE_FIRST_PLAYER],
        &told);
}

void scene_listen(struct scene *scene, int timeout_ms)
{
    if (scene->cluster.is_on)
        cluster_listen(&scene->cluster);
    crew_listen(scene->members, SCENE_MEMBERS, timeout_ms, accept_line, scene);
    for (int i = 0; i < SCENE_MEMBERS; i++) {
        struct crew_member *member = &scene->members[i];
        if (member->name[0] == '\0' || member->pid != 0)
            continue;
        scene_check(scene, false, "%s ended early, exit code %d; see %s/%s.log", member->name,
                    member->exit_code, scene->folder, i == SCENE_PERPD ? "perpd" : "players");
        member->name[0] = '\0'; /* said once */
    }
}
