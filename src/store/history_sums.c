#include "store/history_sums.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/region.h"

#define LEARNED (UINT64_C(1) << 32)

static size_t live_bytes(const struct history_sums *sums)
{
    return (sums->pages_max / 64 + 1) * sizeof(uint64_t);
}

int history_sums_init(struct history_sums *sums, uint64_t pages_max)
{
    *sums = (struct history_sums){ .pages_max = pages_max, .file = -1 };
    sums->sums = region_map(REGION_history, pages_max * sizeof *sums->sums);
    sums->live = region_map(REGION_history, live_bytes(sums));
    return sums->sums != NULL && sums->live != NULL ? 0 : -ENOMEM;
}

void history_sums_free(struct history_sums *sums)
{
    region_unmap((void *)sums->sums, sums->pages_max * sizeof *sums->sums);
    region_unmap(sums->live, live_bytes(sums));
    if (sums->pages_max != 0 && sums->file >= 0)
        close(sums->file);
    *sums = (struct history_sums){ .file = -1 };
}

int history_sums_open(struct history_sums *sums, const char *path)
{
    sums->file = open(path, O_RDONLY | O_CLOEXEC);
    return sums->file < 0 ? -errno : 0;
}

int history_sums_learn(struct history_sums *sums, uint64_t number, const uint8_t *page)
{
    if (number >= sums->pages_max)
        return -EBADMSG;
    uint64_t before = atomic_load_explicit(&sums->sums[number], memory_order_relaxed);
    uint64_t times = (before & ~(LEARNED - 1)) + LEARNED;
    if (times == 0)
        times = LEARNED; /* 0 is: never */
    atomic_store_explicit(&sums->sums[number], times | crc32c(page, HISTORY_PAGE_BYTES),
                          memory_order_relaxed);
    sums->live[number / 64] |= UINT64_C(1) << number % 64;
    return 0;
}

void history_sums_drop(struct history_sums *sums, uint64_t number)
{
    if (number < sums->pages_max)
        sums->live[number / 64] &= ~(UINT64_C(1) << number % 64);
}

bool history_sums_has(const struct history_sums *sums, uint64_t number)
{
    return number < sums->pages_max && (sums->live[number / 64] & UINT64_C(1) << number % 64) != 0;
}

int history_sums_fetch(const struct history_sums *sums, uint64_t number, uint8_t *page)
{
    ssize_t got = pread(sums->file, page, HISTORY_PAGE_BYTES, (off_t)(number * HISTORY_PAGE_BYTES));

    if (got < 0)
        return errno == EIO ? -EBADMSG : -errno;
    return got == HISTORY_PAGE_BYTES ? 0 : -EBADMSG;
}

int history_sums_read(const struct history_sums *sums, uint64_t number, uint8_t *page)
{
    uint64_t sum = history_sums_of(sums, number);

    if (sum == 0)
        return -EBADMSG;
    int failed = history_sums_fetch(sums, number, page);
    if (failed != 0)
        return failed;
    return crc32c(page, HISTORY_PAGE_BYTES) == (uint32_t)sum ? 0 : -EBADMSG;
}
