/* output.h - unsent bytes of all connections, in chunks of one pool (net.output_pool).
 *
 * A connection's output is a list of chunks; bytes are appended behind the last and taken from the
 * first. The pool is mapped once and touched as it is used; chunks are reused last in, first out.
 *
 * Owner. The net thread. Bytes handed to the kernel stay in place until output_sent takes them:
 *        appending never moves what is there.
 * Units. Times are clock_monotonic_ns.
 * Bound. `chunk_count` chunks of OUTPUT_CHUNK_BYTES; OUTPUT_CONNECTION_MAX bytes a connection. */
#ifndef NET_CONN_OUTPUT_H
#define NET_CONN_OUTPUT_H

#include "base/compiler.h"

enum {
    OUTPUT_CHUNK_BYTES = 16384,
    OUTPUT_CONNECTION_MAX = 8 << 20, /* roles.md, Flow control */
};

#define OUTPUT_NONE UINT32_MAX

struct output_chunk {
    uint64_t since_ns; /* when its first byte was appended */
    uint32_t next;     /* in the connection's list or in the list of free chunks */
    uint32_t start;    /* bytes before it are sent */
    uint32_t end;
    bool secret; /* wiped when it is given back */
    uint8_t zero[3];
};

struct output_pool {
    uint8_t *memory;
    struct output_chunk *chunks;
    uint32_t chunk_count;
    uint32_t free_head;
    uint32_t touched; /* chunks that were ever used; those behind are free and not listed */
    uint32_t used;    /* chunks in connections' lists */
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

/* Would `count` more bytes fit the pool now. */
CC_MUST_USE bool output_fits(const struct output_pool *pool, const struct output *output,
                             size_t count);

/* Appends; the bytes fit (output_fits). */
void output_append(struct output_pool *pool, struct output *output, const void *bytes, size_t count,
                   uint64_t now_ns);

/* What was appended last holds a secret: the chunks that the newest `count` bytes stand in are
 * wiped when they are given back, sent or not. */
void output_mark_secret(struct output_pool *pool, const struct output *output, size_t count);

/* The bytes to send next; 0 when there are none. They stay where they are. */
CC_MUST_USE size_t output_next(const struct output_pool *pool, const struct output *output,
                               const uint8_t **bytes);

/* `count` of them are sent. */
void output_sent(struct output_pool *pool, struct output *output, size_t count);

/* Gives all chunks back. */
void output_clear(struct output_pool *pool, struct output *output);

/* When the oldest unsent byte was appended; UINT64_MAX without one. */
uint64_t output_since_ns(const struct output_pool *pool, const struct output *output);

#endif
