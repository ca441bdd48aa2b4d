#include "perp/data/chain_heads.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base64.h"
#include "base/hash.h"
#include "perp/invocation/exit_code.h"

enum { TEXT_MAX = 64 << 20, HEADS_BYTES_MAX = CHAIN_HEADS_MAX * ATTEST_HEAD_BYTES };

static void found(struct chain_heads *heads, const char *text)
{
    heads->findings++;
    heads->context->exit_code = EXIT_CODE_rejected;
    if (heads->findings <= CHAIN_HEADS_TOLD_MAX)
        (void)context_fail(heads->context, EXIT_CODE_rejected, "%s", text);
}

/* ---- reading --------------------------------------------------------------------------------- */

static bool has_room(struct chain_heads *heads)
{
    if (heads->count == CHAIN_HEADS_MAX)
        return context_fail(heads->context, EXIT_CODE_usage, "more than %d heads", CHAIN_HEADS_MAX);
    if (heads->count != 0 && (heads->count & (heads->count - 1)) != 0)
        return true;
    size_t room = heads->count == 0 ? 1 : heads->count * 2;
    struct chain_head *rows = realloc(heads->rows, room * sizeof *rows);
    if (rows == NULL)
        return context_fail(heads->context, EXIT_CODE_problem, "no memory");
    heads->rows = rows;
    return true;
}

static void not_compared(struct chain_heads *heads, const char *what, const char *why)
{
    char text[320];

    (void)snprintf(text, sizeof text, "not compared: a head of %.200s %s", what, why);
    found(heads, text);
}

/* A head of an exchange or a journal that is not this directory's is a finding, for it is not
 * compared. */
static bool add(struct chain_heads *heads, const uint8_t bytes[ATTEST_HEAD_BYTES], const char *what)
{
    const struct exchange_file *exchange = &heads->directory->exchange;
    struct attest_head head;
    const char *why = NULL;

    if (!attest_head_read(&head, bytes))
        why = "is no head";
    else if (memcmp(head.exchange_id, exchange->exchange_id, sizeof head.exchange_id) != 0)
        why = "is of another exchange";
    else if (memcmp(head.journal_id, exchange_file_journal_of(exchange, head.frame),
                    sizeof head.journal_id) != 0)
        why = "is of another journal of this exchange";
    if (why == NULL) {
        if (!has_room(heads))
            return false;
        struct chain_head *row = &heads->rows[heads->count++];
        *row = (struct chain_head){ .head = head, .what = what };
        memcpy(row->signature, bytes + ATTEST_HEAD_BYTES - SIGNER_SIGNATURE_BYTES,
               sizeof row->signature);
        return true;
    }
    not_compared(heads, what, why);
    return true;
}

static bool add_text(struct chain_heads *heads, const json_t *row, const char *path)
{
    const char *text = json_string_value(json_object_get(row, "head"));
    uint8_t bytes[ATTEST_HEAD_BYTES];

    if (text == NULL ||
        base64_decode(bytes, sizeof bytes, text, strlen(text), NULL) != sizeof bytes)
        return context_fail(heads->context, EXIT_CODE_usage, "%s has a row that is no head", path);
    return add(heads, bytes, path);
}

static bool add_json(struct chain_heads *heads, const char *text, size_t count, const char *path)
{
    json_t *root = json_loadb(text, count, 0, NULL);
    const json_t *list = json_object_get(root, "heads");
    bool good = root != NULL;

    if (!good)
        (void)context_fail(heads->context, EXIT_CODE_usage, "%s holds neither heads nor JSON",
                           path);
    else if (list == NULL)
        good = add_text(heads, root, path);
    else if (json_array_size(list) == 0)
        good = context_fail(heads->context, EXIT_CODE_usage, "%s holds no heads", path);
    for (size_t i = 0; good && i < json_array_size(list); i++)
        good = add_text(heads, json_array_get(list, i), path);
    json_decref(root);
    return good;
}

static bool read_file(struct chain_heads *heads, const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = file == NULL ? NULL : malloc(TEXT_MAX);
    bool good = text != NULL;
    size_t count = good ? fread(text, 1, TEXT_MAX, file) : 0;

    if (!good)
        (void)context_fail(heads->context, EXIT_CODE_usage, "cannot read %s: %s", path,
                           strerror(errno));
    else if (count == TEXT_MAX || count == 0)
        good = context_fail(heads->context, EXIT_CODE_usage, "%s is empty or longer than %d MiB",
                            path, TEXT_MAX >> 20);
    else if (text[0] == '{')
        good = add_json(heads, text, count, path);
    else if (count % ATTEST_HEAD_BYTES != 0)
        good = context_fail(heads->context, EXIT_CODE_usage, "%s is not made of heads of %d bytes",
                            path, ATTEST_HEAD_BYTES);
    for (size_t at = 0; good && text[0] != '{' && at < count; at += ATTEST_HEAD_BYTES)
        good = add(heads, (const uint8_t *)text + at, path);
    free(text);
    if (file != NULL)
        fclose(file);
    return good;
}

/* The directory's own: a crash may have torn the last rows, which are passed over. So are those of
 * a journal before this one. */
static bool read_own(struct chain_heads *heads)
{
    struct disk *disk = heads->directory->disk;
    const struct exchange_file *exchange = &heads->directory->exchange;
    uint8_t bytes[ATTEST_HEAD_BYTES];
    struct attest_head head;
    bool good = true;
    int file = disk_open(disk, "heads", 0);
    int64_t size = file < 0 ? 0 : disk_size(disk, file);

    if (file < 0)
        return file == -ENOENT || context_fail(heads->context, EXIT_CODE_problem, "%s/heads: %s",
                                               heads->directory->path, strerror(-file));
    if (size < 0 || size > HEADS_BYTES_MAX)
        good = context_fail(heads->context, EXIT_CODE_problem, "%s/heads: %s",
                            heads->directory->path, strerror(size < 0 ? (int)-size : EFBIG));
    for (uint64_t at = 0; good && disk_read(disk, file, at, bytes, sizeof bytes) == sizeof bytes;
         at += sizeof bytes)
        if (attest_head_read(&head, bytes) &&
            memcmp(head.journal_id, exchange_file_journal_of(exchange, head.frame),
                   sizeof head.journal_id) == 0)
            good = add(heads, bytes, "`heads`");
    disk_close(disk, file);
    return good;
}

static int by_frame(const void *left, const void *right)
{
    const struct chain_head *a = left, *b = right;
    return a->head.frame < b->head.frame ? -1 : a->head.frame > b->head.frame;
}

bool chain_heads_read(struct chain_heads *heads, const char *path)
{
    if (!read_own(heads) || (path != NULL && !read_file(heads, path)))
        return false;
    if (heads->count != 0)
        qsort(heads->rows, heads->count, sizeof *heads->rows, by_frame);
    return true;
}

void chain_heads_free(struct chain_heads *heads)
{
    free(heads->rows);
    heads->rows = NULL;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static void differs(struct chain_heads *heads, const struct attest_head *head, const char *how)
{
    char text[200];

    if (heads->wrong_frame == 0 || head->frame < heads->wrong_frame) {
        heads->wrong_frame = head->frame;
        heads->wrong_sequence = head->sequence;
    }
    (void)snprintf(text, sizeof text, "head of frame %" PRIu64 ", sequence %" PRIu64 ": %s",
                   head->frame, head->sequence, how);
    found(heads, text);
}

static void see_keys(struct chain_heads *heads, const struct chain_frame *frame)
{
    char text[200];
    uint64_t sequence = 0;
    const char *wrong =
        signing_keys_pass(&heads->keys, &heads->directory->exchange, frame, &sequence);

    if (wrong == NULL)
        return;
    (void)snprintf(text, sizeof text, "sequence %" PRIu64 ": %s", sequence, wrong);
    found(heads, text);
}

void chain_heads_pass(struct chain_heads *heads, const struct chain_frame *frame)
{
    uint8_t hash[HASH_BYTES];
    bool is_hashed = false;

    see_keys(heads, frame);
    for (; heads->passed < heads->count &&
           heads->rows[heads->passed].head.frame <= frame->header.number;
         heads->passed++) {
        struct chain_head *row = &heads->rows[heads->passed];
        if (row->head.frame < frame->header.number) {
            row->differs = "not compared: no such frame is there";
            continue;
        }
        if (!is_hashed)
            hash_blake2b256(hash, frame->bytes, frame->header.length);
        is_hashed = true;
        row->is_compared = true;
        if (row->head.sequence != frame->header.last_sequence)
            row->differs = "the frame ends with another sequence";
        else if (memcmp(row->head.frame_hash, hash, sizeof hash) != 0)
            row->differs = "the frame has another hash";
    }
}

void chain_heads_rewind(struct chain_heads *heads)
{
    heads->replayed = 0;
    heads->effects_compared = 0;
}

void chain_heads_effects(struct chain_heads *heads, uint64_t sequence, const struct engine *engine)
{
    uint8_t hash[HASH_BYTES];

    while (heads->replayed < heads->count && heads->rows[heads->replayed].head.sequence < sequence)
        heads->replayed++;
    for (; heads->replayed < heads->count && heads->rows[heads->replayed].head.sequence == sequence;
         heads->replayed++) {
        const struct chain_head *row = &heads->rows[heads->replayed];
        if (!row->is_signed)
            continue;
        engine_effects_hash(engine, hash);
        heads->effects_compared++;
        if (memcmp(row->head.effects_hash, hash, sizeof hash) != 0)
            differs(heads, &row->head, "the replay has another effects hash");
    }
}

static bool is_signed(const void *what, const uint8_t key[ATTEST_KEY_BYTES])
{
    const struct chain_head *row = what;

    return attest_head_is_signed(&row->head, row->signature, key);
}

/* Only now all keys are known. */
static void judge(struct chain_heads *heads, struct chain_head *row, bool is_passed)
{
    const struct attest_head *head = &row->head;

    row->is_signed = signing_keys_find(&heads->keys, &heads->directory->exchange, head->sequence,
                                       is_signed, row);
    if (!row->is_signed) {
        not_compared(heads, row->what,
                     "is not signed by a key that this journal had then or later");
        return;
    }
    heads->compared += row->is_compared;
    if (!is_passed)
        differs(heads, head, "not compared: the journal ends before that frame");
    else if (row->differs != NULL)
        differs(heads, head, row->differs);
    else if (heads->wrong_frame == 0)
        heads->met_sequence = head->sequence;
}

void chain_heads_judge(struct chain_heads *heads)
{
    for (size_t i = 0; i < heads->count; i++)
        judge(heads, &heads->rows[i], i < heads->passed);
    if (heads->wrong_frame != 0)
        (void)context_fail(heads->context, EXIT_CODE_rejected,
                           "the first difference from the heads lies after sequence %" PRIu64
                           " and not after %" PRIu64,
                           heads->met_sequence, heads->wrong_sequence);
}
