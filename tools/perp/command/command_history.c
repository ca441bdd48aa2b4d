/* command_history.c - proves, counts and makes again the rows of the past of a data directory. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "base/option.h"
#include "node/history/history.h"
#include "node/recover/fold.h"
#include "node/recover/replay.h"
#include "perp/command/command.h"
#include "perp/data/chain_marks.h"
#include "perp/data/chain_walk.h"
#include "perp/data/data_directory.h"
#include "perp/invocation/exit_code.h"
#include "perp/print/report.h"
#include "store/history_check.h"
#include "store/history_folder.h"

enum {
    PATH_BYTES = 4096,
    PAGE_BYTES = 4096,
    PRIVATE_EVENTS = 65536, /* of each account: the default of store.private_events */
};

static bool failed(struct context *context, const char *what, int error)
{
    return context_fail(context, EXIT_CODE_problem, "%s: %s", what, strerror(-error));
}

/* Opens --data and takes its lock. */
static bool open_locked(struct context *context, struct data_directory *directory)
{
    if (!data_directory_open(context, NULL, directory))
        return false;
    int error = disk_lock(directory->disk);
    if (error == 0)
        return true;
    if (error == -EWOULDBLOCK)
        (void)context_fail(context, EXIT_CODE_problem, "%s is in use: stop perpd first",
                           directory->path);
    else
        (void)failed(context, directory->path, error);
    data_directory_close(directory);
    return false;
}

static bool path_of(struct context *context, const struct data_directory *directory,
                    const char *name, char path[PATH_BYTES])
{
    int count = snprintf(path, PATH_BYTES, "%s/%s", directory->path, name);
    return (count > 0 && count < PATH_BYTES) || failed(context, directory->path, -ENAMETOOLONG);
}

/* ---- verify and stat ------------------------------------------------------------------------- */

/* Reads the whole file; false after a printed error. */
static bool check(struct context *context, const struct data_directory *directory, const char *name,
                  struct history_totals *totals)
{
    char path[PATH_BYTES];

    if (!path_of(context, directory, name, path))
        return false;
    int error = history_check(path, totals, NULL);
    if (error == -EBADMSG)
        return context_fail(context, EXIT_CODE_rejected, "%s is damaged", path);
    if (error == 0 && !totals->is_there)
        error = -ENOENT;
    if (error != 0)
        return failed(context, path, error);
    bool is_begun = totals->head.format != 0; /* else a start ended before its first commit */
    if (is_begun &&
        memcmp(totals->head.exchange_id, directory->exchange.exchange_id, HISTORY_ID_BYTES) != 0)
        return context_fail(context, EXIT_CODE_rejected, "%s is of another exchange", path);
    return true;
}

static void show_totals(const struct context *context, const struct history_totals *totals)
{
    uint64_t rows = 0;

    for (int i = 0; i < HISTORY_TABLES; i++)
        rows += totals->head.rows[i];
    json_t *object = json_pack("{s:I, s:I, s:I, s:I}", "applied", (json_int_t)totals->head.applied,
                               "from", (json_int_t)totals->head.from, "rows", (json_int_t)rows,
                               "file_bytes", (json_int_t)totals->file_bytes);
    report_object(stdout, object, context->arguments->json);
}

static void show_tables(const struct context *context, const struct history_totals *totals)
{
    json_t *tables = json_array();

    INVARIANT(tables != NULL);
    for (int i = 0; i < HISTORY_TABLES; i++) {
        uint64_t rows = totals->head.rows[i], bytes = totals->pages[i] * PAGE_BYTES;
        json_t *table = json_pack("{s:s, s:I, s:I, s:I, s:I}", "table", history_page_table_names[i],
                                  "rows", (json_int_t)rows, "bytes", (json_int_t)bytes,
                                  "bytes_a_row", (json_int_t)(rows == 0 ? 0 : bytes / rows), "sum",
                                  (json_int_t)totals->head.sums[i]);
        INVARIANT(table != NULL);
        (void)json_array_append_new(tables, table);
    }
    if (context->arguments->json) {
        (void)json_dumpf(tables, stdout, JSON_COMPACT);
        printf("\n");
    } else {
        report_rows(stdout, tables, "table rows bytes bytes_a_row sum");
    }
    json_decref(tables);
}

/* Reads the whole file and shows what it found. The exit code. */
static int examine(struct context *context,
                   void show(const struct context *context, const struct history_totals *totals))
{
    struct data_directory directory;
    struct history_totals totals;

    if (!open_locked(context, &directory))
        return context->exit_code;
    if (check(context, &directory, "history/data.mdb", &totals))
        show(context, &totals);
    data_directory_close(&directory);
    return context->exit_code;
}

int command_history_verify(struct context *context)
{
    return examine(context, show_totals);
}

int command_history_stat(struct context *context)
{
    return examine(context, show_tables);
}

/* ---- rebuild --------------------------------------------------------------------------------- */

/* One rebuild under way. The sink is its first member. */
struct rebuilding {
    struct engine_sink sink;
    struct history_sink rows;
    const struct data_directory *directory;
    struct history_file *file;
    struct fold fold;
    uint64_t seen; /* the last sequence whose rows are all made */
    int error;     /* of the file, or of memory */
    char folder[PATH_BYTES];
};

static void end(struct rebuilding *rebuilding)
{
    history_destroy(rebuilding->rows.history);
    history_file_close(rebuilding->file);
    rebuilding->rows.history = NULL;
    rebuilding->file = NULL;
}

/* An empty file and no rows. */
static void begin(struct rebuilding *rebuilding)
{
    const struct exchange_file *exchange = &rebuilding->directory->exchange;
    uint32_t accounts = (uint32_t)option_row(OPTION_engine_accounts)->maximum;

    end(rebuilding);
    rebuilding->seen = 0;
    rebuilding->error = history_folder_remove(rebuilding->folder);
    if (rebuilding->error == 0)
        rebuilding->error =
            history_file_open(&rebuilding->file, rebuilding->folder, exchange->exchange_id);
    if (rebuilding->error != 0)
        return;
    struct history *history =
        history_create(HISTORY_ROWS_DEFAULT, accounts + 1, mix_key_load(exchange->hash_key));
    history_sink_init(&rebuilding->rows, history, NULL);
    rebuilding->error = history == NULL ? -ENOMEM : history_attach(history, rebuilding->file);
    if (rebuilding->error == 0)
        history_keep_private(history, PRIVATE_EVENTS);
}

static void emit(struct engine_sink *sink, const struct effect *effect)
{
    struct rebuilding *rebuilding = (struct rebuilding *)(void *)sink;

    if (effect->sequence <= rebuilding->seen)
        begin(rebuilding); /* the fold did: a later 2013 has larger tables */
    if (rebuilding->error == 0)
        rebuilding->rows.sink.emit(&rebuilding->rows.sink, effect);
}

static int see_record(void *context, const struct chain_frame *frame, uint64_t sequence,
                      const struct record_view *record, const struct command *command,
                      const struct engine_result *result)
{
    struct rebuilding *rebuilding = context;
    (void)frame;
    (void)record;
    (void)command;
    (void)result;
    if (sequence <= rebuilding->seen)
        begin(rebuilding);
    if (rebuilding->error != 0)
        return REPLAY_given_up;
    history_keep_publish(&rebuilding->rows.history->keep);
    history_keep_make_room(&rebuilding->rows.history->keep, rebuilding->fold.engine);
    rebuilding->seen = sequence;
    return 0;
}

static bool see_frame(void *context, const struct chain_frame *frame)
{
    chain_marks_pass(context, frame);
    return true;
}

/* Proves the chain up to its lawful end, as perp audit does; *last is the sequence there. False
 * after a printed error. */
static bool prove_chain(struct context *context, const struct data_directory *directory,
                        uint64_t *last)
{
    static struct chain_marks marks;
    struct chain_walk walk = { 0 };
    struct refusal refusal;

    marks.context = context;
    marks.directory = directory;
    if (!chain_marks_read(&marks))
        return false;
    if (chain_walk_run(directory, &walk, see_frame, &marks, &refusal) != REFUSAL_none)
        return data_directory_refused(context, directory, &refusal);
    chain_marks_judge(&marks, &walk.end.tail);
    *last = walk.end.tail.last_sequence;
    return context->exit_code == 0;
}

/* Replays everything into the new file. False after a printed error. */
static bool replay(struct context *context, struct rebuilding *rebuilding, uint64_t last)
{
    struct fold_config config = {
        .disk = rebuilding->directory->disk,
        .exchange = &rebuilding->directory->exchange,
        .segment_bytes = rebuilding->directory->segment_bytes,
        .start = FOLD_GENESIS,
        .last_segment = UINT64_MAX,
        .last_sequence = last,
        .sink = &rebuilding->sink,
        .visit = see_record,
        .context = rebuilding,
    };
    struct refusal refusal;

    begin(rebuilding);
    rebuilding->sink =
        (struct engine_sink){ .emit = emit, .ignores = rebuilding->rows.sink.ignores };
    enum refusal_kind kind = REFUSAL_none;
    if (rebuilding->error == 0)
        kind = fold_run(&config, &rebuilding->fold, &refusal);
    if (rebuilding->error != 0)
        return failed(context, rebuilding->folder, rebuilding->error);
    if (kind != REFUSAL_none)
        return data_directory_refused(context, rebuilding->directory, &refusal);
    struct history_keep *keep = &rebuilding->rows.history->keep;
    history_keep_mark(keep, rebuilding->fold.engine);
    fold_free(&rebuilding->fold);
    int written = last == 0 ? 0 : history_keep_flush(keep, true);
    if (written < 0)
        return failed(context, rebuilding->folder, written);
    if (history_file_applied(rebuilding->file) != last) /* the log line above says why */
        return context_fail(context, EXIT_CODE_rejected, "%s: sequence %" PRIu64 " of %" PRIu64,
                            rebuilding->folder, history_file_applied(rebuilding->file), last);
    return true;
}

int command_history_rebuild(struct context *context)
{
    static struct rebuilding rebuilding;
    static struct data_directory directory;
    struct history_totals totals;
    uint64_t last = 0;
    char place[PATH_BYTES];

    if (!open_locked(context, &directory))
        return context->exit_code;
    rebuilding.directory = &directory;
    if (path_of(context, &directory, "history", place) &&
        path_of(context, &directory, "history.new", rebuilding.folder)) {
        bool is_made =
            prove_chain(context, &directory, &last) && replay(context, &rebuilding, last);
        end(&rebuilding);
        is_made = is_made && check(context, &directory, "history.new/data.mdb", &totals);
        int error = is_made ? history_folder_replace(place, rebuilding.folder)
                            : history_folder_remove(rebuilding.folder);
        if (error != 0)
            (void)failed(context, place, error);
        else if (is_made)
            show_totals(context, &totals);
    }
    data_directory_close(&directory);
    return context->exit_code;
}
