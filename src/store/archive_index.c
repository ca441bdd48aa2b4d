#include "store/archive_index.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/hex.h"

/* 7 numbers of 20 digits, 2 hashes, a separator after each. */
static_assert(7 * 21 + 2 * (2 * HASH_BYTES + 1) < ARCHIVE_INDEX_LINE_BYTES_MAX, "a line fits");

enum { NUMBERS = 7 };

/* ---- writing --------------------------------------------------------------------------------- */

static size_t head_write(char *text, const struct exchange_file *exchange, const uint8_t *own)
{
    char exchange_id[2 * EXCHANGE_FILE_ID_BYTES + 1];
    char journal_id[2 * EXCHANGE_FILE_JOURNAL_ID_BYTES + 1];
    int used;

    hex_encode(exchange_id, exchange->exchange_id, EXCHANGE_FILE_ID_BYTES);
    hex_encode(journal_id, own, EXCHANGE_FILE_JOURNAL_ID_BYTES);
    used = snprintf(text, ARCHIVE_INDEX_LINE_BYTES_MAX, "perpd-archive 1 %s %s\n", exchange_id,
                    journal_id);
    INVARIANT(used > 0 && used < ARCHIVE_INDEX_LINE_BYTES_MAX);
    return (size_t)used;
}

static size_t row_write(char *text, const struct archive_row *row)
{
    char file_hash[2 * HASH_BYTES + 1];
    char frame_hash[2 * HASH_BYTES + 1];
    int used;

    hex_encode(file_hash, row->file_hash, HASH_BYTES);
    hex_encode(frame_hash, row->last_frame_hash, HASH_BYTES);
    used = snprintf(text, ARCHIVE_INDEX_LINE_BYTES_MAX,
                    "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                    " %" PRIu64 " %s %s\n",
                    row->segment, row->first_frame, row->last_frame, row->first_sequence,
                    row->last_sequence, row->last_t_ns, row->bytes, file_hash, frame_hash);
    INVARIANT(used > 0 && used < ARCHIVE_INDEX_LINE_BYTES_MAX);
    return (size_t)used;
}

/* The last line, of the `bytes` of text above it. */
static size_t check_write(char *out, const char *text, size_t bytes)
{
    char check[2 * HASH_BYTES + 1];
    uint8_t hash[HASH_BYTES];
    int used;

    hash_blake2b256(hash, text, bytes);
    hex_encode(check, hash, HASH_BYTES);
    used = snprintf(out, ARCHIVE_INDEX_LINE_BYTES_MAX, "check %s\n", check);
    INVARIANT(used > 0 && used < ARCHIVE_INDEX_LINE_BYTES_MAX);
    return (size_t)used;
}

/* Of a list: of the last segment that it has. */
static const uint8_t *journal_of(const struct archive *archive,
                                 const struct exchange_file *exchange)
{
    return archive->count == 0
               ? exchange->journal_id
               : exchange_file_journal(exchange, archive->rows[archive->count - 1].segment);
}

int archive_index_encode(char **text, size_t *bytes, const struct archive *archive,
                         const struct exchange_file *exchange)
{
    size_t used;

    if (archive->count > ARCHIVE_INDEX_ROWS_MAX)
        return -EFBIG;
    *text = malloc((archive->count + 2) * ARCHIVE_INDEX_LINE_BYTES_MAX);
    if (!*text)
        return -ENOMEM;
    used = head_write(*text, exchange, journal_of(archive, exchange));
    for (uint64_t i = 0; i < archive->count; i++)
        used += row_write(*text + used, &archive->rows[i]);
    *bytes = used + check_write(*text + used, *text, used);
    return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A number and the character after it. */
static bool number_read(uint64_t *out, const char **at, const char *end)
{
    uint64_t value = 0;
    const char *first = *at;

    while (*at < end && **at >= '0' && **at <= '9') {
        uint64_t digit = (uint64_t)(**at - '0');

        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
        ++*at;
    }
    *out = value;
    return *at > first && *at < end && *(*at)++ == ' ';
}

static bool hash_read(uint8_t out[HASH_BYTES], const char **at, const char *end, char behind)
{
    const ptrdiff_t digits = 2 * HASH_BYTES;
    const char *first = *at;

    if (end - first <= digits || first[digits] != behind)
        return false;
    *at = first + digits + 1;
    return hex_decode(out, HASH_BYTES, first, (size_t)digits);
}

static bool row_read(struct archive_row *out, const char **at, const char *end)
{
    uint64_t *numbers[NUMBERS] = {
        &out->segment,       &out->first_frame, &out->last_frame, &out->first_sequence,
        &out->last_sequence, &out->last_t_ns,   &out->bytes,
    };

    for (int i = 0; i < NUMBERS; i++) {
        if (!number_read(numbers[i], at, end))
            return false;
    }
    return hash_read(out->file_hash, at, end, ' ') &&
           hash_read(out->last_frame_hash, at, end, '\n');
}

/* The first one listed may be any (the oldest are removed in time); segment 0 begins the chain. */
static bool row_follows(const struct archive_row *row, const struct archive_row *before)
{
    if (row->last_frame < row->first_frame || row->first_frame == 0 || row->first_sequence == 0 ||
        row->last_sequence < row->first_sequence - 1 || row->last_frame == UINT64_MAX ||
        row->last_sequence == UINT64_MAX || row->segment == UINT64_MAX || row->bytes == 0)
        return false;
    if (before)
        return row->segment == before->segment + 1 && row->first_frame == before->last_frame + 1 &&
               row->first_sequence == before->last_sequence + 1;
    return row->segment > 0 || (row->first_frame == 1 && row->first_sequence == 1);
}

static uint64_t lines_count(const char *text, size_t bytes)
{
    uint64_t lines = 0;

    for (size_t i = 0; i < bytes; i++)
        lines += text[i] == '\n';
    return lines;
}

/* The last line is the hash of those above. */
static bool text_is_whole(const char *text, size_t bytes)
{
    char want[ARCHIVE_INDEX_LINE_BYTES_MAX];
    size_t want_bytes = check_write(want, text, 0); /* a hash has one length */

    if (bytes < want_bytes)
        return false;
    (void)check_write(want, text, bytes - want_bytes);
    return memcmp(text + bytes - want_bytes, want, want_bytes) == 0;
}

/* The head is this exchange's; -EXDEV: it is one, whole, and another's. */
static int head_check(const char *text, size_t bytes, const struct exchange_file *exchange)
{
    char want[ARCHIVE_INDEX_LINE_BYTES_MAX];
    size_t want_bytes = head_write(want, exchange, exchange->journal_id);
    const size_t word_bytes = sizeof "perpd-archive 1 " - 1;

    if (bytes < want_bytes || memcmp(text, want, word_bytes) != 0 || text[want_bytes - 1] != '\n')
        return -EBADMSG;
    if (memcmp(text, want, want_bytes) == 0)
        return 0;
    for (uint32_t i = 0; i < exchange->era_count; i++) { /* the last row will say which */
        (void)head_write(want, exchange, exchange->eras[i].journal_id);
        if (memcmp(text, want, want_bytes) == 0)
            return 0;
    }
    return text_is_whole(text, bytes) ? -EXDEV : -EBADMSG;
}

/* A list has one text: whatever else was accepted (a leading zero, capitals) shows here, and with
 * it any damage that left the lines well formed. */
static bool text_is_canonical(const struct archive *archive, const char *text, size_t bytes,
                              const struct exchange_file *exchange, int *error)
{
    size_t again_bytes;
    char *again;
    bool equal;

    *error = archive_index_encode(&again, &again_bytes, archive, exchange);
    if (*error < 0)
        return false;
    equal = again_bytes == bytes && memcmp(again, text, bytes) == 0;
    free(again);
    return equal;
}

static int rows_read(struct archive *out, const char *text, size_t bytes,
                     const struct exchange_file *exchange, uint64_t lines, uint64_t *line)
{
    const char *end = text + bytes;
    const char *at = memchr(text, '\n', bytes);
    int error = 0;

    INVARIANT(at);
    at++;
    for (*line = 2; *line < lines; ++*line) {
        struct archive_row *row = &out->rows[out->count];

        if (!row_read(row, &at, end) || !row_follows(row, out->count > 0 ? row - 1 : NULL))
            return -EBADMSG;
        out->count++;
    }
    if (text_is_canonical(out, text, bytes, exchange, &error))
        return 0;
    return error < 0 ? error : -EBADMSG;
}

int archive_index_decode(struct archive *out, const char *text, size_t bytes,
                         const struct exchange_file *exchange, uint64_t *line)
{
    uint64_t lines = lines_count(text, bytes);
    int error = head_check(text, bytes, exchange);

    *out = (struct archive){ 0 };
    *line = 1;
    if (error < 0)
        return error;
    if (lines < 2 || lines - 2 > ARCHIVE_INDEX_ROWS_MAX)
        return -EBADMSG;
    out->rows = calloc(lines - 1, sizeof out->rows[0]);
    if (!out->rows)
        return -ENOMEM;
    error = rows_read(out, text, bytes, exchange, lines, line);
    if (error < 0) {
        free(out->rows);
        *out = (struct archive){ 0 };
    }
    return error;
}
