#include "perp/data/chain_heads.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/base64.h"
#include "base/hash.h"
#include "perp/invocation/exit_code.h"

enum { TEXT_MAX = 64 << 20 };

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
    struct attest_head *rows = realloc(heads->rows, room * sizeof *rows);
    if (rows == NULL)
        return context_fail(heads->context, EXIT_CODE_problem, "no memory");
    heads->rows = rows;
    return true;
}

/* A head of an exchange, a journal or a key that is not this directory's is a finding, for it is
 * not compared. */
static bool add(struct chain_heads *heads, const uint8_t bytes[ATTEST_HEAD_BYTES], const char *what)
{
    const struct exchange_file *exchange = &heads->directory->exchange;
    struct attest_head head;
    char text[320];
    const char *why = NULL;

    if (!attest_head_read(&head, bytes))
        why = "is no head";
    else if (memcmp(head.exchange_id, exchange->exchange_id, sizeof head.exchange_id) != 0)
        why = "is of another exchange";
    else if (!attest_head_verify(bytes, exchange->signing_public))
        why = "is not signed by the key that this directory's `exchange` names";
    else if (memcmp(head.journal_id, exchange_file_journal_of(exchange, head.frame),
                    sizeof head.journal_id) != 0)
        why = "is of another journal of this exchange";
    if (why == NULL) {
        if (!has_room(heads))
            return false;
        heads->rows[heads->count++] = head;
        return true;
    }
    (void)snprintf(text, sizeof text, "not compared: a head of %.200s %s", what, why);
    found(heads, text);
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

    if (file < 0)
        return file == -ENOENT || context_fail(heads->context, EXIT_CODE_problem, "%s/heads: %s",
                                               heads->directory->path, strerror(-file));
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
    const struct attest_head *a = left, *b = right;
    return a->frame < b->frame ? -1 : a->frame > b->frame;
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

void chain_heads_pass(struct chain_heads *heads, const struct chain_frame *frame)
{
    uint8_t hash[HASH_BYTES];
    bool is_hashed = false;

    for (; heads->passed < heads->count && heads->rows[heads->passed].frame <= frame->header.number;
         heads->passed++) {
        const struct attest_head *head = &heads->rows[heads->passed];
        if (head->frame < frame->header.number) {
            differs(heads, head, "not compared: no such frame is there");
            continue;
        }
        if (!is_hashed)
            hash_blake2b256(hash, frame->bytes, frame->header.length);
        is_hashed = true;
        heads->compared++;
        if (head->sequence != frame->header.last_sequence)
            differs(heads, head, "the frame ends with another sequence");
        else if (memcmp(head->frame_hash, hash, sizeof hash) != 0)
            differs(heads, head, "the frame has another hash");
        else if (heads->wrong_frame == 0)
            heads->met_sequence = head->sequence;
    }
}

void chain_heads_rewind(struct chain_heads *heads)
{
    heads->replayed = 0;
    heads->effects_compared = 0;
}

void chain_heads_effects(struct chain_heads *heads, uint64_t sequence, const struct engine *engine)
{
    uint64_t lanes[8];
    uint8_t hash[HASH_BYTES];

    while (heads->replayed < heads->count && heads->rows[heads->replayed].sequence < sequence)
        heads->replayed++;
    for (; heads->replayed < heads->count && heads->rows[heads->replayed].sequence == sequence;
         heads->replayed++) {
        const struct attest_head *head = &heads->rows[heads->replayed];
        engine_effects_lanes(engine, lanes);
        hash_blake2b256(hash, lanes, sizeof lanes);
        heads->effects_compared++;
        if (memcmp(head->effects_hash, hash, sizeof hash) != 0)
            differs(heads, head, "the replay has another effects hash");
    }
}

void chain_heads_judge(struct chain_heads *heads)
{
    for (; heads->passed < heads->count; heads->passed++)
        differs(heads, &heads->rows[heads->passed],
                "not compared: the journal ends before that frame");
    if (heads->wrong_frame != 0)
        (void)context_fail(heads->context, EXIT_CODE_rejected,
                           "the first difference from the heads lies after sequence %" PRIu64
                           " and not after %" PRIu64,
                           heads->met_sequence, heads->wrong_sequence);
}
