/* output.h - unsent bytes of all connections, in chunks of one pool (net.output_pool).
 *
 * A connection's output is a list of chunks: bytes are appended to the last and sent from the
 * first. The pool is mapped once; its pages are used from the front. Free chunks are reused last
 * in, first out; beyond OUTPUT_WARM_CHUNKS of them their pages go back to the kernel.
 *
 * Owner. The net thread. Bytes given to the kernel stay in place until output_sent: appending never
 *        moves bytes.
 * Units. Times are clock_monotonic_ns.
 * Bound. `chunk_count` chunks of OUTPUT_CHUNK_BYTES; OUTPUT_CONNECTION_MAX bytes a connection. */
#ifndef NET_CONN_OUTPUT_H
#define NET_CONN_OUTPUT_H

#include "base/compiler.h"

enum {
    OUTPUT_CHUNK_BYTES = 16384,
    OUTPUT_CONNECTION_MAX = 8 << 20, /* roles.md, Flow control */
    OUTPUT_WARM_CHUNKS = 1024,       /* free ones that keep their pages */
};

#define OUTPUT_NONE UINT32_MAX

struct output_chunk {
    uint64_t since_ns;  /* when its first byte was appended */
    uint64_t newest_ns; /* its last */
    uint32_t next;      /* in the connection's list or in the list of free chunks */
    uint32_t start;     /* the bytes before it are sent */
    uint32_t end;
    bool secret;  /* wiped when it is freed */
    bool is_cold; /* free, and its pages are the kernel's again */
    uint8_t zero[2];
};

struct output_pool {
    uint8_t *memory;
    struct output_chunk *chunks;
    uint32_t chunk_count;
    uint32_t free_head;
    uint32_t touched; /* chunks that were ever used; later ones are free and in no list */
    uint32_t used;    /* chunks in connections' lists */
    uint32_t warm;    /* free chunks with pages */
    size_t mapped_bytes;
};

/* One connection's unsent bytes. */
struct output {
    uint32_t head, tail;
    uint32_t bytes;
};

/* 0 or -ENOMEM. */
CC_MUST_USE int output_pool_init(struct output_pool *pool, uint64_t bytes);
void output_pool_free(struct output_pool *pool);

static inline void output_init(struct output *output)
{
    *output = (struct output){ .head = OUTPUT_NONE, .tail = OUTPUT_NONE };
}

/* Whether `count` more bytes fit into the pool now. */
CC_MUST_USE bool output_fits(const struct output_pool *pool, const struct output *output,
                             size_t count);

/* Appends the bytes; they must fit (output_fits). */
void output_append(struct output_pool *pool, struct output *output, const void *bytes, size_t count,
                   uint64_t now_ns);

/* The newest `count` bytes hold a secret: their chunks are wiped when they are freed, sent or not.
 * */
void output_mark_secret(struct output_pool *pool, const struct output *output, size_t count);

/* The bytes to send next; 0 if there are none. They are not consumed. */
CC_MUST_USE size_t output_next(const struct output_pool *pool, const struct output *output,
                               const uint8_t **bytes);

/* Consumes `count` bytes that were sent. */
void output_sent(struct output_pool *pool, struct output *output, size_t count);

/* Frees all chunks. */
void output_clear(struct output_pool *pool, struct output *output);

/* The time at which the oldest unsent byte was appended; UINT64_MAX if there is none. */
uint64_t output_since_ns(const struct output_pool *pool, const struct output *output);

/* The time at which the newest was; 0 if there is none. */
uint64_t output_newest_ns(const struct output_pool *pool, const struct output *output);

#endif
