#include "base/head_log.h"

uint32_t head_log_newest(const struct head_log *log, uint32_t limit, uint8_t *heads)
{
    uint64_t count = row_log_count(&log->rows);
    uint32_t copied = 0;

    while (copied < limit && copied < count && copied < HEAD_LOG_SLOTS &&
           row_log_read(&log->rows, count - 1 - copied, heads + (size_t)copied * HEAD_LOG_BYTES))
        copied++;
    return copied;
}
