#include "net/json/json_head.h"

#include "base/head_log.h"

void json_head_list(struct writer *writer, const struct reply *reply, const uint8_t *rows)
{
    WRITER_TEXT(writer, "{\"heads\":[");
    for (uint32_t i = 0; i < reply->row_count; i++) {
        if (i > 0)
            WRITER_TEXT(writer, ",");
        WRITER_TEXT(writer, "{\"head\":");
        writer_base64(writer, rows + (size_t)i * HEAD_LOG_BYTES, HEAD_LOG_BYTES);
        WRITER_TEXT(writer, "}");
    }
    WRITER_TEXT(writer, "]}");
}
