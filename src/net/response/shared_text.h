/* shared_text.h - the JSON of answers that do not depend on the caller, made once for each sequence
 * and copied for all who ask for the same (roles.md, Threads and budgets): the markets, a book by
 * depth, the exchange's own description, typed-data types. Net thread.
 *
 * Bound. SHARED_TEXT_ROWS texts of at most SHARED_TEXT_BYTES; a longer one is not kept. A new one
 *        replaces one of an earlier sequence, which nobody is answered with again, else those kept
 *        in turn: who asks for many different ones makes others pay no more than the making. */
#ifndef NET_RESPONSE_SHARED_TEXT_H
#define NET_RESPONSE_SHARED_TEXT_H

#include "base/query_message.h"
#include "base/row.h"
#include "net/conn/context.h"
#include "net/http/writer.h"

enum { SHARED_TEXT_ROWS = 16, SHARED_TEXT_BYTES = 256 * 1024 };

/* What tells the text from any other: of one sequence the head of a book says which levels follow,
 * by its market and their number. Zero-padded. */
struct shared_text_key {
    uint64_t applied; /* sequence; of what does not change with it, the epoch */
    uint64_t time_ns;
    uint32_t kind;   /* enum query_kind, or 2^16 and enum route_kind */
    uint32_t number; /* bytes of the rows; else the request type or rules_version */
    uint8_t head[sizeof(struct row_book)]; /* first bytes of the rows, or the public key */
};

struct shared_texts {
    struct shared_text_key keys[SHARED_TEXT_ROWS];
    uint32_t counts[SHARED_TEXT_ROWS]; /* bytes of the text; 0: none */
    uint32_t next;                     /* to be replaced where none is of an earlier sequence */
    char *bytes;
};

/* 0 or -ENOMEM. */
CC_MUST_USE int shared_text_init(struct shared_texts *texts);
void shared_text_free(struct shared_texts *texts);

/* Writes the JSON of a reply with rows; only that of a kind that is every caller's is kept. */
void shared_text_reply(struct shared_texts *texts, struct writer *writer, const struct reply *reply,
                       const uint8_t *rows);

/* Writes what GET /exchange answers. */
void shared_text_exchange(struct shared_texts *texts, struct writer *writer,
                          const struct net_config *config);

/* Writes the typed-data types of a signable request type. */
void shared_text_types(struct shared_texts *texts, struct writer *writer,
                       const struct net_config *config, uint16_t code);

#endif
