#include "node/history/private_block.h"

#include <errno.h>

enum {
    ROW_HEAD = sizeof(uint64_t),
    EVENT_HEAD = 6, /* kind and changed words */
    MAP_BYTES = 5,
    EVENT_MAX = EVENT_HEAD + PRIVATE_LOG_WORDS * (1 + sizeof(uint64_t)),
    HEAD_WORDS = offsetof(struct private_event, order) / sizeof(uint64_t),
};

static_assert(PRIVATE_LOG_WORDS <= MAP_BYTES * 8, "a bit for each word");
static_assert((int)ROW_HEAD + (int)EVENT_MAX <= (int)PRIVATE_BLOCK_BYTES, "any event fits");

/* What the next event, of this kind, is compared with. */
static void load_base(const struct private_block *block, unsigned kind,
                      uint64_t words[PRIVATE_LOG_WORDS])
{
    memcpy(words, &block->newest[kind], sizeof block->newest[kind]);
    memcpy(words, &block->last, HEAD_WORDS * sizeof *words);
    words[offsetof(struct private_event, seq) / sizeof *words] = block->first_seq + block->count;
}

static void note(struct private_block *block, const struct private_event *event)
{
    block->last = *event;
    block->newest[event->kind] = *event;
    block->count++;
}

void private_block_begin(struct private_block *block, uint64_t account_id, uint64_t first_seq)
{
    block->account_id = account_id;
    block->first_seq = first_seq;
    block->count = 0;
    block->bytes = ROW_HEAD;
    memset(&block->last, 0, sizeof block->last);
    memset(block->newest, 0, sizeof block->newest);
    block->last.account_id = account_id;
}

/* Writes the bytes of a word that are not zero, and which they are. Returns the end. */
static uint8_t *put_word(uint8_t *at, uint64_t word)
{
    uint8_t *map = at++;

    *map = 0;
    for (unsigned k = 0; k < sizeof word; k++) {
        uint8_t byte = (uint8_t)(word >> 8 * k);
        if (byte == 0)
            continue;
        *map = (uint8_t)(*map | 1 << k);
        *at++ = byte;
    }
    return at;
}

bool private_block_add(struct private_block *block, const struct private_event *event)
{
    uint64_t words[PRIVATE_LOG_WORDS], base[PRIVATE_LOG_WORDS], changed = 0;
    uint8_t text[EVENT_MAX];
    uint8_t *at = text + EVENT_HEAD;

    if (event->account_id != block->account_id || event->seq != block->first_seq + block->count ||
        block->count == PRIVATE_BLOCK_EVENTS)
        return false;
    INVARIANT(event->kind < PRIVATE_BLOCK_KINDS);
    memcpy(words, event, sizeof words);
    load_base(block, event->kind, base);
    for (unsigned k = 0; k < PRIVATE_LOG_WORDS; k++) {
        uint64_t word = words[k] ^ base[k];
        if (word == 0)
            continue;
        changed |= UINT64_C(1) << k;
        at = put_word(at, word);
    }
    text[0] = event->kind;
    memcpy(text + 1, &changed, MAP_BYTES);
    size_t bytes = (size_t)(at - text);
    if (block->bytes + bytes > sizeof block->row)
        return false;
    memcpy(block->row + block->bytes, text, bytes);
    block->bytes += (uint32_t)bytes;
    cc_store64(block->row, event->sequence);
    note(block, event);
    return true;
}

/* Reads the changed bytes of a word. Returns the end; NULL: it is not whole. */
static const uint8_t *get_word(const uint8_t *at, const uint8_t *end, uint64_t *word)
{
    if (at == end)
        return NULL;
    unsigned map = *at++;
    *word = 0;
    for (unsigned k = 0; k < sizeof *word; k++) {
        if ((map >> k & 1) == 0)
            continue;
        if (at == end)
            return NULL;
        *word |= (uint64_t)*at++ << 8 * k;
    }
    return at;
}

/* Reads the event that follows. Returns its end; NULL: there is none. */
static const uint8_t *get_event(struct private_block *block, const uint8_t *at, const uint8_t *end)
{
    uint64_t words[PRIVATE_LOG_WORDS], changed = 0;
    struct private_event event;

    if (end - at < EVENT_HEAD || at[0] >= PRIVATE_BLOCK_KINDS ||
        block->count == PRIVATE_BLOCK_EVENTS)
        return NULL;
    unsigned kind = at[0];
    memcpy(&changed, at + 1, MAP_BYTES);
    at += EVENT_HEAD;
    if (changed >> PRIVATE_LOG_WORDS != 0)
        return NULL;
    load_base(block, kind, words);
    for (unsigned k = 0; k < PRIVATE_LOG_WORDS && at != NULL; k++) {
        uint64_t word = 0;
        if ((changed >> k & 1) != 0)
            at = get_word(at, end, &word);
        words[k] ^= word;
    }
    memcpy(&event, words, sizeof event);
    if (at == NULL || event.kind != kind || event.account_id != block->account_id ||
        event.seq != block->first_seq + block->count)
        return NULL;
    note(block, &event);
    return at;
}

int private_block_read(uint64_t account_id, uint64_t first_seq, const uint8_t *row, size_t bytes,
                       struct private_event events[PRIVATE_BLOCK_EVENTS])
{
    struct private_block block;
    const uint8_t *at = row + ROW_HEAD, *end = row + bytes;

    if (bytes <= ROW_HEAD)
        return -EBADMSG;
    private_block_begin(&block, account_id, first_seq);
    while (at != end) {
        at = get_event(&block, at, end);
        if (at == NULL)
            return -EBADMSG;
        events[block.count - 1] = block.last;
    }
    return block.last.sequence == cc_load64(row) ? (int)block.count : -EBADMSG;
}
