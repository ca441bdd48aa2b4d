/* scene.h - the demo: starts perpd and the processes that trade on it, shows them, ends them, and
 * compares what they believe with what the exchange says.
 *
 *   perpd (child)  <--- HTTP --- oracle, makers, takers, whale (children) --- lines ---> scene
 *        ^------- books, /metrics, /audit ----------------------------------------------'
 *
 * Owner. One process, one thread.
 * Units. Sizes raw, money micro-USDC, times ns. */
#ifndef PERP_DEMO_SCENE_H
#define PERP_DEMO_SCENE_H

#include <signal.h>

#include "base/status.h"
#include "perp_demo/audit_answer.h"
#include "perp_demo/cluster.h"
#include "perp_demo/feed.h"
#include "perp_demo/role.h"
#include "perp_demo/scrape.h"
#include "perp_demo/server.h"
#include "perp_demo/view.h"

enum {
    SCENE_PLAYERS = ROLE_PROCESSES - 1, /* all but the oracle */
    SCENE_ACCOUNTS = SCENE_PLAYERS + 2, /* theirs, yours and the exchange's own, account 0 */
    SCENE_PERPD = 0,                    /* places in `members` */
    SCENE_ORACLE = 1,
    SCENE_FIRST_PLAYER = 2,
    SCENE_MEMBERS = SCENE_FIRST_PLAYER + SCENE_PLAYERS,
    SCENE_PATH_MAX = PROVISION_PATH_MAX,
};

enum player_state {
    PLAYER_TRADING,
    PLAYER_STOPPED,
    PLAYER_PROVED,
    PLAYER_FLATTENING,
    PLAYER_FINISHED
};

struct player_book {
    int64_t position, notional, gross;
};

/* One list of the exchange about a player in a market (statement.h). */
struct player_sum {
    int64_t count, size, notional, fees;
};

/* What became of a player's requests around the kill (receipt.h, statement.h). */
struct player_proof {
    int64_t first, lost, before, after, unused, asked, found, missing, different;
};

struct player {
    struct provision_account account;
    const struct role *role;
    enum player_state state;
    uint64_t sent, trades, problems, postponed;
    uint64_t p50_ns, p99_ns; /* round trip as the client sees it */
    uint64_t statuses[STATUS_COUNT];
    struct player_book own[LISTING_MARKETS]; /* by its own orders */
    int64_t held[LISTING_MARKETS];           /* position when it stopped */
    int64_t positions[LISTING_MARKETS];      /* GET /positions, then */
    struct player_sum orders[LISTING_MARKETS], fills[LISTING_MARKETS]; /* at the end */
    struct player_proof proof;
    bool complete; /* the lists reached back to the first row */
    int64_t odd_fees, out_of_turn, accepted_orders;
    int64_t cash;
};

/* What is counted of a market; the texts that are shown of it are in the view. */
struct scene_market {
    uint64_t trade_seq; /* of the last trade: all trades of the market */
    uint64_t trades;    /* orders of takers that met somebody */
    int128 notional;    /* of those */
    uint64_t seq_before;
};

struct scene {
    uint32_t seconds;            /* 0: until Ctrl-C */
    int64_t at_least;            /* trades that must happen; below 0: 50 a second, at most 1,000 */
    bool keep;                   /* leave the folder behind */
    bool live;                   /* a screen; else a line now and then */
    bool chaos;                  /* kill perpd in the middle */
    uint64_t kill_ns;            /* when it is to be killed; UINT64_MAX: never */
    uint64_t killed_ns, back_ns; /* 0: not yet */
    char folder[SCENE_PATH_MAX];
    char bin[SCENE_PATH_MAX]; /* where this program and perpd are */

    struct provision provision;
    struct server server;
    struct cluster cluster; /* with --cluster */
    bool wants_cluster;
    uint32_t aimed; /* the term of its leader to which `client` and `admin` are connected */
    struct client client, admin;
    struct feed *feed;
    struct crew_member members[SCENE_MEMBERS];
    struct player oracle;
    struct player players[SCENE_PLAYERS];
    struct provision_account you; /* an account for the person who watches */
    struct instrument records[LISTING_MARKETS];
    struct scene_market markets[LISTING_MARKETS];
    double requests_s;
    struct scrape scrape;
    struct view view; /* the markets' rows of every scene, the rest of a live one */
    struct audit_answer audit;
    uint64_t others; /* accounts that somebody else opened, in the console say; known at the end */

    uint64_t begin_ns, end_ns; /* of trading */
    uint32_t failures;
};

/* Runs the whole demo; the exit code. */
int scene_run(int argc, char **argv);

/* One line of the summary: "ok" or "FAIL" and a sentence; counts failures. */
CC_PRINTF(3, 4) void scene_check(struct scene *scene, bool good, const char *format, ...);

/* scene_listen.c: listens to all members for at most timeout_ms; a member that ended early is a
 * failure. */
void scene_listen(struct scene *scene, int timeout_ms);

/* scene_finish.c: stops the players, closes their positions against each other, reads the audit and
 * says whether the books agree. */
void scene_finish(struct scene *scene);

/* scene_compare.c: the players' own books against what the exchange lists of them. */
void scene_compare(struct scene *scene);

/* scene_cluster.c: the exchange becomes a cluster of three, before anybody trades on it. False: a
 * message was printed. */
CC_MUST_USE bool scene_cluster_begin(struct scene *scene);
/* The scene's own connections go to the node that leads; false: none does now. */
bool scene_cluster_aim(struct scene *scene);
/* A turn of its chaos: kills a leader when it is time. */
void scene_cluster_step(struct scene *scene, uint64_t now_ns);
void scene_cluster_check(struct scene *scene);

/* scene_chaos.c: kills perpd and starts it again on the same data; at the end, what the players
 * found of their requests. False: it did not come back. */
CC_MUST_USE bool scene_chaos(struct scene *scene);
void scene_chaos_check(struct scene *scene);

/* The request to stop (Ctrl-C). */
const volatile sig_atomic_t *scene_interrupted(void);
void scene_interrupt(void);

/* scene_show.c: lines now and then, and what to try next. */
void scene_show(struct scene *scene);
/* Reads metrics, books and trades, and counts the rates of the last second. True: a second ended;
 * `before` has the metrics of the one before. */
bool scene_show_measure(struct scene *scene, struct scrape *before);
/* Reads /metrics into scene->scrape, which stays as it is while there is no answer. */
void scene_show_read_metrics(struct scene *scene);
/* Books and last trades only. False: some could not be read. */
bool scene_show_read(struct scene *scene);
/* A raw price with the decimals of its market's tick. */
void scene_show_price(const struct instrument *record, uint64_t raw, char text[DECIMAL_TEXT_MAX]);
void scene_show_hints(const struct scene *scene);

/* scene_live.c: the screen. A key chooses the market, kills perpd or ends the demo. */
CC_MUST_USE bool scene_live_begin(struct scene *scene);
void scene_live_show(struct scene *scene);
/* True: the screen is to be shown again. */
bool scene_live_key(struct scene *scene);

/* scene_sum.c: sums over all players, and the summary at the end with its checks. */
uint64_t scene_sum_sent(const struct scene *scene);
uint64_t scene_sum_trades(const struct scene *scene);
uint64_t scene_sum_status(const struct scene *scene, enum status status);
uint64_t scene_sum_rejected(const struct scene *scene);
/* Whether there were as many takes as the check will want, in each market. */
bool scene_sum_is_enough(const struct scene *scene);
void scene_sum_check(struct scene *scene);
void scene_sum_show(struct scene *scene);

#endif
