/* scene_live.c - the screen of the demo: gathers what view.h draws, and does what keys say. */
#include <stdio.h>
#include <unistd.h>

#include "perp/request/instant.h"
#include "perp_demo/scene.h"
#include "perp_demo/screen.h"

enum { HURRY_NS = 400000000 };

/* A path as somebody in this folder would write it. */
static void relative(const char *path, char text[VIEW_TEXT])
{
    char here[SCENE_PATH_MAX];
    size_t count = getcwd(here, sizeof here) != NULL ? strlen(here) : 0;
    bool is_below = count != 0 && strncmp(path, here, count) == 0 && path[count] == '/';

    snprintf(text, VIEW_TEXT, "%.160s", path + (is_below ? count + 1 : 0));
}

bool scene_live_begin(struct scene *scene)
{
    struct view *view = &scene->view;
    char bin[VIEW_TEXT], folder[VIEW_TEXT];

    if (!screen_open()) {
        printf("demo: this terminal shows no screen, so lines\n");
        return false;
    }
    relative(scene->bin, bin);
    relative(scene->folder, folder);
    snprintf(view->tries[0], VIEW_TEXT, "try: export PERP_CONFIG=%.160s/perp.ini", folder);
    snprintf(view->tries[1], VIEW_TEXT, "%s%.160s/perp order BTC-PERP buy 0.01 101000 --explain",
             bin[0] == '/' ? "" : "./", bin);
    view->durability = scene->provision.durability;
    return true;
}

static void fill_keys(const struct scene *scene, char text[VIEW_TEXT])
{
    if (scene->wants_cluster && scene->killed_ns != 0 && scene->back_ns == 0)
        snprintf(text, VIEW_TEXT, "the leader was killed (SIGKILL); another node takes over ...");
    else if (scene->wants_cluster && scene->killed_ns != 0)
        snprintf(text, VIEW_TEXT, "1-%d market  k kill -9 leader  q end  another led after %.0f ms",
                 LISTING_MARKETS, (double)(scene->back_ns - scene->killed_ns) / 1e6);
    else if (scene->killed_ns == 0)
        snprintf(text, VIEW_TEXT, "1-%d market  k kill -9 perpd  q end", LISTING_MARKETS);
    else if (scene->back_ns == 0)
        snprintf(text, VIEW_TEXT, "perpd was killed (SIGKILL); it starts on the same data ...");
    else
        snprintf(text, VIEW_TEXT, "1-%d market  q end  kill -9: ready again after %.0f ms",
                 LISTING_MARKETS, (double)(scene->back_ns - scene->killed_ns) / 1e6);
}

static void fill_markets(const struct scene *scene, struct view *view)
{
    view->trades_s = 0;
    for (uint32_t i = 0; i < LISTING_MARKETS; i++) {
        struct view_market *row = &view->markets[i];
        row->name = listing_at(i)->market;
        scene_show_price(&scene->records[i], feed_price(scene->feed, i), row->index);
        row->taken_usdc = (double)scene->markets[i].notional / 1e6;
        view->trades_s += row->trades_s;
    }
}

/* The stages of a signed request in their order; `read` is of another kind. */
static void fill_stages(const struct scene *scene, struct view *view)
{
    view->stage_count = 0;
    for (uint32_t i = 0; i < scene->scrape.stage_count && view->stage_count < VIEW_STAGES; i++) {
        const struct scrape_stage *stage = &scene->scrape.stages[i];
        double p50 = scrape_quantile(stage, 0.5), p99 = scrape_quantile(stage, 0.99);
        if (p50 >= 0 && p99 >= 0 && strcmp(stage->name, "read") != 0)
            view->stages[view->stage_count++] = (struct view_stage){ stage->name, p50, p99 };
    }
}

static void fill_refusals(const struct scene *scene, struct view *view)
{
    bool is_shown[STATUS_COUNT] = { [STATUS_request_completed] = true };

    for (view->refusal_count = 0; view->refusal_count < VIEW_REFUSALS; view->refusal_count++) {
        struct view_refusal *row = &view->refusals[view->refusal_count];
        int most = STATUS_COUNT;
        row->count = 0;
        for (int i = 0; i < STATUS_COUNT; i++) {
            uint64_t count = is_shown[i] ? 0 : scene_sum_status(scene, (enum status)i);
            if (count > row->count) {
                most = i;
                row->count = count;
            }
        }
        if (most == STATUS_COUNT)
            break;
        is_shown[most] = true;
        row->name = status_name((enum status)most);
    }
}

void scene_live_show(struct scene *scene)
{
    static struct scrape before;
    struct view *view = &scene->view;

    bool is_down = scene->killed_ns != 0 && scene->back_ns == 0;
    if (!is_down && scene_show_measure(scene, &before)) {
        const struct scrape_stage *sent = scrape_find(&scene->scrape, "sent");
        const struct scrape_stage *former = scrape_find(&before, "sent");
        series_add(&view->requests_s, scene->requests_s);
        series_add(&view->p50_ns, sent == NULL ? -1 : scrape_quantile_between(former, sent, 0.5));
        series_add(&view->p99_ns, sent == NULL ? -1 : scrape_quantile_between(former, sent, 0.99));
    }
    view->elapsed_s = (instant_monotonic_ns() - scene->begin_ns) / 1000000000;
    view->journal_bytes = (double)scene->scrape.journal_record_bytes;
    snprintf(view->address, VIEW_TEXT, "%s", scene->server.console_url);
    snprintf(view->operator_page, VIEW_TEXT, "operator %s", scene->server.operator_url);
    fill_keys(scene, view->keys);
    fill_markets(scene, view);
    fill_stages(scene, view);
    fill_refusals(scene, view);
    view_draw(view);
}

bool scene_live_key(struct scene *scene)
{
    int key = screen_key();

    if (key >= '1' && key < '1' + LISTING_MARKETS)
        scene->view.chosen = (uint32_t)(key - '1');
    else if (key == 'k' && scene->kill_ns == UINT64_MAX)
        scene->kill_ns = instant_monotonic_ns() + HURRY_NS;
    else if (key == 'q')
        scene_interrupt();
    return key != 0;
}
