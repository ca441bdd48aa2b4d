/* command_admin.c - clear-poison: lists and forgets the commands on which perpd aborted. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>

#include "base/uuid.h"
#include "node/recover/poison.h"
#include "perp/command/command.h"
#include "perp/data/data_directory.h"
#include "perp/print/report.h"

enum { NS_PER_MS = 1000000 };

/* Prints account and id of a request; a signer without an account has none (W5). */
static json_t *row_json(const struct poison_row *row)
{
    char id[UUID_TEXT_BYTES + 1];
    struct uuid uuid;
    bool has_account = row->has_id && row->account <= INT64_MAX;

    memcpy(uuid.bytes, row->id, sizeof uuid.bytes);
    uuid_format(&uuid, id);
    json_t *object =
        json_pack("{s:I, s:i, s:s, s:o, s:o, s:i}", "time", (json_int_t)(row->found_ns / NS_PER_MS),
                  "code", (int)row->code, "type", poison_type_name(row->code), "account_id",
                  has_account ? json_integer((json_int_t)row->account) : json_null(), "request_id",
                  row->has_id ? json_string(id) : json_null(), "signal", (int)row->signal);
    INVARIANT(object != NULL);
    return object;
}

static void show(const struct context *context, const struct poison_file *poison)
{
    json_t *rows = json_array();

    for (uint32_t i = 0; i < poison->row_count; i++)
        (void)json_array_append_new(rows, row_json(&poison->rows[i]));
    if (context->arguments->json) {
        (void)json_dumpf(rows, stdout, JSON_COMPACT);
        printf("\n");
    } else if (poison->row_count != 0) {
        report_rows(stdout, rows, "time code type account_id request_id signal");
    } else {
        printf("nothing to clear\n");
    }
    json_decref(rows);
}

/* Runs with the directory locked. A damaged file is cleared too: no start would read it. */
static bool clear(struct context *context, const struct data_directory *directory)
{
    static struct poison_file poison;
    const uint8_t *exchange_id = directory->exchange.exchange_id;
    int failed = disk_lock(directory->disk);

    if (failed == -EWOULDBLOCK)
        return context_fail(context, EXIT_CODE_rejected,
                            "a perpd runs on %s: stop it first, it would not read the change",
                            directory->path);
    if (failed != 0)
        return context_fail(context, EXIT_CODE_problem, "%s/lock: %s", directory->path,
                            strerror(-failed));
    failed = poison_file_load(&poison, directory->disk, exchange_id);
    bool is_damaged = failed == -EBADMSG || failed == -EXDEV;
    if (failed != 0 && !is_damaged)
        return context_fail(context, EXIT_CODE_problem, "%s/poison: %s", directory->path,
                            strerror(-failed));
    struct poison_file empty = { .run = poison.run };
    if (poison.row_count != 0 || is_damaged)
        failed = poison_file_store(&empty, directory->disk, exchange_id);
    if (failed != 0)
        return context_fail(context, EXIT_CODE_problem, "%s/poison: %s", directory->path,
                            strerror(-failed));
    if (is_damaged)
        fprintf(stderr, "perp admin clear-poison: the file was damaged, or another exchange's; "
                        "what it said is lost\n");
    show(context, &poison);
    return true;
}

int command_admin_clear_poison(struct context *context)
{
    struct data_directory directory;

    if (!data_directory_open(context, NULL, &directory))
        return context->exit_code;
    int code = clear(context, &directory) ? EXIT_CODE_accepted : context->exit_code;
    data_directory_close(&directory);
    return code;
}
