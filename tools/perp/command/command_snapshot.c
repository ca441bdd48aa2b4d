/* command_snapshot.c - lists, verifies and prints snapshots of a data directory. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hex.h"
#include "node/recover/fold.h"
#include "perp/command/command.h"
#include "perp/data/data_directory.h"
#include "perp/invocation/choice.h"
#include "perp/print/image_text.h"
#include "perp/print/report.h"

enum { LISTED_MAX = 1024 };

/* Lists the sequences of the snapshot files, newest first. -1 after a printed error. */
static int list(struct context *context, const struct data_directory *directory,
                uint64_t sequences[LISTED_MAX])
{
    int count = snapshot_list(directory->disk, sequences, LISTED_MAX);
    if (count == -ENOENT)
        return 0;
    if (count < 0)
        (void)context_fail(context, EXIT_CODE_problem, "%s/snapshot: %s", directory->path,
                           strerror(-count));
    return count;
}

/* The snapshot of SEQUENCE; without the word the newest one. */
static bool choose(struct context *context, const struct data_directory *directory,
                   uint64_t *sequence)
{
    uint64_t sequences[LISTED_MAX];
    if (context->arguments->word_count > 0)
        return choice_sequence(context, context->arguments->words[0], 1, sequence);
    int count = list(context, directory, sequences);
    if (count == 0)
        return context_fail(context, EXIT_CODE_rejected, "%s has no snapshot", directory->path);
    *sequence = sequences[0];
    return count > 0;
}

static json_t *hex_json(const uint8_t *bytes)
{
    char text[2 * HASH_BYTES + 1];
    hex_encode(text, bytes, HASH_BYTES);
    return json_string(text);
}

static json_t *head_json(const struct snapshot_head *head)
{
    json_t *object = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o}", "sequence",
        (json_int_t)head->sequence, "frame", (json_int_t)head->frame, "t_ns",
        (json_int_t)head->t_ns, "boot", (json_int_t)head->boot, "rules_version",
        (json_int_t)head->rules_version, "section_count", (json_int_t)head->section_count,
        "image_bytes", (json_int_t)head->image_bytes, "effects_hash", hex_json(head->effects_hash),
        "image_hash", hex_json(head->image_hash), "frame_hash", hex_json(head->frame_hash));
    INVARIANT(object != NULL);
    return object;
}

static bool not_whole(struct context *context, uint64_t sequence, int failed,
                      const struct refusal *why)
{
    return context_fail(context, EXIT_CODE_rejected, "snapshot %" PRIu64 ": %s", sequence,
                        why->text[0] != '\0' ? why->text : strerror(-failed));
}

int command_snapshot_ls(struct context *context)
{
    uint64_t sequences[LISTED_MAX];
    struct data_directory directory;
    struct snapshot_head head;
    struct refusal why;
    if (!data_directory_open(context, NULL, &directory))
        return context->exit_code;
    int count = list(context, &directory, sequences);
    json_t *rows = json_array();
    for (int i = 0; i < count; i++) {
        refusal_clear(&why);
        int failed =
            snapshot_read_head(directory.disk, &directory.exchange, sequences[i], &head, &why);
        if (failed == 0)
            (void)json_array_append_new(rows, head_json(&head));
        else
            (void)not_whole(context, sequences[i], failed, &why);
    }
    if (context->arguments->json) {
        (void)json_dumpf(rows, stdout, JSON_COMPACT);
        printf("\n");
    } else if (json_array_size(rows) > 0) {
        report_rows(stdout, rows, "sequence frame t_ns boot rules_version image_bytes image_hash");
    }
    json_decref(rows);
    data_directory_close(&directory);
    return context->exit_code;
}

/* Reads a snapshot as a start would: bytes, chain, a fresh engine, and that engine's own image. */
static bool verify(struct context *context, const struct data_directory *directory,
                   uint64_t sequence)
{
    struct snapshot snapshot;
    struct refusal refusal;
    struct fold fold;
    uint8_t hash[HASH_BYTES];
    refusal_clear(&refusal);
    int failed =
        snapshot_read(directory->disk, &directory->exchange, sequence, &snapshot, &refusal);
    if (failed != 0)
        return not_whole(context, sequence, failed, &refusal);
    struct snapshot_head head = snapshot.head;
    snapshot_close(&snapshot);
    struct fold_config config = {
        .disk = directory->disk,
        .exchange = &directory->exchange,
        .segment_bytes = directory->segment_bytes,
        .start = FOLD_SNAPSHOT,
        .start_sequence = sequence,
        .last_segment = UINT64_MAX,
        .last_sequence = sequence,
    };
    if (fold_run(&config, &fold, &refusal) != REFUSAL_none)
        return not_whole(context, sequence, -EBADMSG, &refusal);
    fold_image_hash(fold.engine, hash);
    fold_free(&fold);
    if (memcmp(hash, head.image_hash, HASH_BYTES) != 0)
        return context_fail(context, EXIT_CODE_rejected,
                            "snapshot %" PRIu64 ": an engine made from it has another image",
                            sequence);
    return true;
}

int command_snapshot_verify(struct context *context)
{
    uint64_t sequences[LISTED_MAX];
    struct data_directory directory;
    int count = 1, whole = 0;
    if (!data_directory_open(context, NULL, &directory))
        return context->exit_code;
    if (context->arguments->word_count == 0)
        count = list(context, &directory, sequences);
    else if (!choose(context, &directory, &sequences[0]))
        count = 0;
    for (int i = 0; i < count; i++)
        whole += verify(context, &directory, sequences[i]);
    data_directory_close(&directory);
    if (context->arguments->json)
        printf("{\"snapshots\":%d,\"whole\":%d}\n", count < 0 ? 0 : count, whole);
    else
        printf("%d of %d snapshots are whole\n", whole, count < 0 ? 0 : count);
    return context->exit_code;
}

int command_snapshot_dump(struct context *context)
{
    struct data_directory directory;
    struct snapshot snapshot;
    struct refusal why;
    uint64_t sequence = 0;
    if (!data_directory_open(context, NULL, &directory))
        return context->exit_code;
    if (choose(context, &directory, &sequence)) {
        refusal_clear(&why);
        int failed = snapshot_read(directory.disk, &directory.exchange, sequence, &snapshot, &why);
        if (failed != 0) {
            (void)not_whole(context, sequence, failed, &why);
        } else {
            for (uint32_t i = 0; i < snapshot.head.section_count; i++) {
                const struct snapshot_section *section = &snapshot.sections[i];
                uint64_t rows = image_text_rows(section);
                printf("section %" PRIu32 " %s  version %" PRIu32 "  bytes %" PRIu64
                       "  rows %" PRIu64 "\n",
                       section->code, image_text_name(section->code), section->version,
                       section->byte_count, rows);
                for (uint64_t row = 0; row < rows && ferror(stdout) == 0; row++)
                    image_text_row(stdout, section, row);
            }
            snapshot_close(&snapshot);
        }
    }
    data_directory_close(&directory);
    return context->exit_code;
}
