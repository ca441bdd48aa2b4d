#include "net/response/shared_text.h"

#include <errno.h>

#include "base/region.h"
#include "net/http/route.h"
#include "net/json/json_info.h"
#include "net/json/json_reply.h"
#include "net/json/json_typed_data.h"

enum { OF_ROUTE = 1 << 16 };

int shared_text_init(struct shared_texts *texts)
{
    *texts = (struct shared_texts){ 0 };
    texts->bytes = region_map(REGION_output, (size_t)SHARED_TEXT_ROWS * SHARED_TEXT_BYTES);
    return texts->bytes != NULL ? 0 : -ENOMEM;
}

void shared_text_free(struct shared_texts *texts)
{
    region_unmap(texts->bytes, (size_t)SHARED_TEXT_ROWS * SHARED_TEXT_BYTES);
    texts->bytes = NULL;
}

/* Writes the text of the key. False: it is not kept. */
static bool write_kept(const struct shared_texts *texts, const struct shared_text_key *key,
                       struct writer *writer)
{
    for (uint32_t i = 0; i < SHARED_TEXT_ROWS; i++) {
        if (texts->counts[i] == 0 || memcmp(&texts->keys[i], key, sizeof *key) != 0)
            continue;
        writer_bytes(writer, texts->bytes + (size_t)i * SHARED_TEXT_BYTES, texts->counts[i]);
        return true;
    }
    return false;
}

/* The row that a text of the key is kept in. */
static uint32_t row_for(struct shared_texts *texts, const struct shared_text_key *key)
{
    for (uint32_t i = 0; key->kind < OF_ROUTE && i < SHARED_TEXT_ROWS; i++)
        if (texts->keys[i].kind < OF_ROUTE && texts->keys[i].applied < key->applied)
            return i;
    texts->next = (texts->next + 1) % SHARED_TEXT_ROWS;
    return texts->next;
}

/* Keeps what the writer has from `begin` on. */
static void keep(struct shared_texts *texts, const struct shared_text_key *key,
                 const struct writer *writer, size_t begin)
{
    size_t count = writer_count(writer) - begin;
    if (writer->full || count > SHARED_TEXT_BYTES)
        return;
    uint32_t at = row_for(texts, key);
    texts->keys[at] = *key;
    texts->counts[at] = (uint32_t)count;
    memcpy(texts->bytes + (size_t)at * SHARED_TEXT_BYTES, writer->start + begin, count);
}

void shared_text_reply(struct shared_texts *texts, struct writer *writer, const struct reply *reply,
                       const uint8_t *rows)
{
    size_t begin = writer_count(writer);
    if (reply->kind != QUERY_markets && reply->kind != QUERY_book) {
        json_reply(writer, reply, rows);
        return;
    }
    struct shared_text_key key = { .applied = reply->applied,
                                   .time_ns = reply->time_ns,
                                   .kind = reply->kind,
                                   .number = reply->row_bytes };
    size_t count = reply->row_bytes < sizeof key.head ? reply->row_bytes : sizeof key.head;
    memcpy(key.head, rows, count);
    if (write_kept(texts, &key, writer))
        return;
    json_reply(writer, reply, rows);
    keep(texts, &key, writer, begin);
}

void shared_text_exchange(struct shared_texts *texts, struct writer *writer,
                          const struct net_config *config)
{
    size_t begin = writer_count(writer);
    struct shared_text_key key = { .applied = config->epoch,
                                   .kind = OF_ROUTE + ROUTE_EXCHANGE,
                                   .number = config->rules_version };
    memcpy(key.head, config->signing_public, sizeof config->signing_public);
    if (write_kept(texts, &key, writer))
        return;
    json_info_exchange(config, writer);
    keep(texts, &key, writer, begin);
}

void shared_text_types(struct shared_texts *texts, struct writer *writer,
                       const struct net_config *config, uint16_t code)
{
    size_t begin = writer_count(writer);
    const struct shared_text_key key = { .applied = config->epoch,
                                         .kind = OF_ROUTE + ROUTE_EIP712,
                                         .number = code };
    if (write_kept(texts, &key, writer))
        return;
    json_typed_data_types(config, code, writer);
    keep(texts, &key, writer, begin);
}
