#include "node/history/private_keep.h"

#include <errno.h>
#include <stdlib.h>

#include "base/region.h"

int private_keep_init(struct private_keep *keep, uint32_t capacity, uint32_t account_count)
{
    INVARIANT((capacity & (capacity - 1)) == 0);
    keep->events = calloc(capacity, sizeof *keep->events);
    keep->next = calloc(capacity, sizeof *keep->next);
    keep->first = calloc(account_count, sizeof *keep->first);
    region_name(REGION_history, keep->events, capacity * sizeof *keep->events);
    keep->mask = capacity - 1;
    keep->account_count = account_count;
    return keep->events != NULL && keep->next != NULL && keep->first != NULL ? 0 : -ENOMEM;
}

void private_keep_free(struct private_keep *keep)
{
    region_forget(keep->events);
    free(keep->events);
    free(keep->next);
    free(keep->first);
    keep->events = NULL;
    keep->next = NULL;
    keep->first = NULL;
}

void private_keep_add(struct private_keep *keep, const struct private_event *event)
{
    keep->events[keep->added++ & keep->mask] = *event;
}

static const struct private_event *event_at(const struct private_keep *keep, uint64_t position)
{
    return &keep->events[position & keep->mask];
}

/* The account's first event of this write + 1; 0: none. */
static uint32_t *first_of(const struct private_keep *keep, const struct private_event *event)
{
    uint32_t slot = account_id_slot(event->account_id);

    INVARIANT(slot < keep->account_count);
    return &keep->first[slot];
}

/* Removes what the account need not have any more, once in PRIVATE_KEEP_STEP events. */
static int drop(const struct private_keep *keep, struct history_file *file)
{
    const struct private_block *block = &keep->block;
    uint64_t last = block->first_seq + block->count - 1;

    if ((block->first_seq - 1) / PRIVATE_KEEP_STEP == last / PRIVATE_KEEP_STEP ||
        last < keep->most + PRIVATE_BLOCK_EVENTS)
        return 0;
    /* The events of a row below this location are all older than the newest `most`. */
    return history_file_drop(file, HISTORY_PRIVATE, block->account_id,
                             last - keep->most - PRIVATE_BLOCK_EVENTS + 2, PRIVATE_KEEP_DROP_MAX);
}

static int put(const struct private_keep *keep, struct history_file *file)
{
    const struct private_block *block = &keep->block;
    const struct history_location location = { .table = HISTORY_PRIVATE,
                                               .key = block->account_id,
                                               .sequence = block->first_seq };

    if (block->count == 0)
        return 0;
    int failed = history_file_put(file, &location, block->row, block->bytes);
    return failed != 0 ? failed : drop(keep, file);
}

/* Writes the events of one slot of accounts, from its first on. Returns the rows written. */
static int write_chain(struct private_keep *keep, struct history_file *file, uint32_t at)
{
    struct private_block *block = &keep->block;
    int rows = 0;

    block->count = 0;
    block->account_id = 0;
    for (; at != 0; at = keep->next[at - 1]) {
        const struct private_event *event = &keep->events[at - 1];
        if (block->count != 0 && private_block_add(block, event))
            continue;
        int failed = put(keep, file);
        if (failed != 0)
            return failed;
        private_block_begin(block, event->account_id, event->seq);
        bool is_added = private_block_add(block, event);
        INVARIANT(is_added);
        rows++;
    }
    int failed = put(keep, file);
    return failed != 0 ? failed : rows;
}

int private_keep_write(struct private_keep *keep, struct history_file *file, uint64_t sequence,
                       uint64_t end, uint64_t *at)
{
    uint64_t begin = *at, applied = history_file_applied(file), stop;
    int rows = 0;

    if (end - begin > keep->mask + 1)
        return -EOVERFLOW; /* one command has added more events than there is room for */
    while (begin < end && event_at(keep, begin)->sequence <= applied)
        begin++; /* a replay makes events that the file has */
    for (stop = begin; stop < end && event_at(keep, stop)->sequence <= sequence; stop++)
        continue;
    for (uint64_t k = stop; k > begin; k--) {
        uint32_t *first = first_of(keep, event_at(keep, k - 1));
        uint32_t number = (uint32_t)((k - 1) & keep->mask);
        keep->next[number] = *first;
        *first = number + 1;
    }
    for (uint64_t k = begin; k < stop; k++) {
        uint32_t *first = first_of(keep, event_at(keep, k));
        uint32_t number = *first;
        *first = 0;
        if (number == 0 || rows < 0) /* written with an earlier event, or cleared after a failure */
            continue;
        int written = write_chain(keep, file, number);
        rows = written < 0 ? written : rows + written;
    }
    *at = stop;
    return rows;
}
