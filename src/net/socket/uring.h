/* uring.h - the io_uring of a net thread: ring, provided receive buffers, one entry a call.
 *
 * SINGLE_ISSUER and DEFER_TASKRUN: the kernel makes completions only when the owner asks for them,
 * so nothing interrupts it. TASKRUN_FLAG shows without a system call whether there would be any.
 * The ring starts disabled and belongs to the thread that calls uring_start.
 *
 * Wait.  uring_flush never blocks; uring_wait sleeps.
 * Bound. URING_BUFFERS buffers of URING_BUFFER_BYTES. When all are in use, receives end with
 *        ENOBUFS and are armed again. */
#ifndef NET_SOCKET_URING_H
#define NET_SOCKET_URING_H

#include <liburing.h>

#include "base/compiler.h"

enum {
    URING_ENTRIES = 4096,
    URING_COMPLETIONS = 32768,
    URING_BUFFERS = 1024, /* power of two */
    URING_BUFFER_BYTES = 4096,
    URING_BUFFER_GROUP = 0,
};

struct uring {
    struct io_uring ring;
    struct io_uring_buf_ring *buffer_ring;
    uint8_t *buffers;
    uint32_t returned; /* buffers returned since the last publish */
    bool started;
    bool open;
};

/* The kind of an operation, in the top byte of its user data; the rest is the index of a
 * connection. */
enum uring_operation {
    URING_ACCEPT = 1,
    URING_RECEIVE,
    URING_SEND,
    URING_WAKE,
    URING_CANCEL,
};

static inline uint64_t uring_user_data(enum uring_operation operation, uint32_t index)
{
    return (uint64_t)operation << 56 | index;
}

/* 0, or -errno with the reason and the remedy in `diagnosis`. */
CC_MUST_USE int uring_init(struct uring *uring, char *diagnosis, size_t diagnosis_bytes);
void uring_close(struct uring *uring);

/* The calling thread becomes the owner. 0 or -errno. */
CC_MUST_USE int uring_start(struct uring *uring);

void uring_accept(struct uring *uring, int file, uint32_t listener);
/* Multishot, or one buffer only. */
void uring_receive(struct uring *uring, int file, uint32_t index, bool once);
void uring_send(struct uring *uring, int file, const uint8_t *bytes, size_t count, uint32_t index);
void uring_watch(struct uring *uring, int file);
void uring_cancel(struct uring *uring, uint64_t user_data);

/* The received bytes of a completion that has a buffer. */
uint8_t *uring_buffer(const struct uring *uring, const struct io_uring_cqe *cqe);
/* Returns that buffer; the kernel sees it at the next flush or wait. */
void uring_give_buffer(struct uring *uring, const struct io_uring_cqe *cqe);

/* Submits new entries and collects completions, if there are any. */
void uring_flush(struct uring *uring);

/* The same, then sleeps until a completion or the timeout. */
void uring_wait(struct uring *uring, uint64_t timeout_ns);

/* Whether a completion is there, or a flush would make one. */
CC_MUST_USE bool uring_is_ready(const struct uring *uring);

#endif
