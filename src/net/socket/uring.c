#include "net/socket/uring.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BUFFER_BYTES      ((size_t)URING_BUFFERS * URING_BUFFER_BYTES)
#define BUFFER_RING_BYTES ((size_t)URING_BUFFERS * sizeof(struct io_uring_buf))

static int diagnose(int error, const char *step, char *text, size_t bytes)
{
    const char *remedy = "see the error number";
    if (error == -ENOSYS)
        remedy = "this kernel has no io_uring, or a seccomp filter hides it: Linux 6.1 or newer is "
                 "needed, and a container must allow io_uring_setup, io_uring_enter and "
                 "io_uring_register";
    else if (error == -EPERM || error == -EACCES)
        remedy = "io_uring is forbidden here: set the sysctl kernel.io_uring_disabled to 0 and let "
                 "the container's seccomp profile allow io_uring";
    else if (error == -EINVAL)
        remedy = "the kernel is too old: Linux 6.1 or newer is needed (SINGLE_ISSUER, "
                 "DEFER_TASKRUN, provided buffer rings, multishot receive)";
    else if (error == -ENOMEM || error == -ENOBUFS)
        remedy = "raise the limit of locked memory (ulimit -l) or free memory";
    else if (error == -EMFILE || error == -ENFILE)
        remedy = "raise the limit of open files (ulimit -n)";
    (void)snprintf(text, bytes, "io_uring: %s: %s; %s", step, strerror(-error), remedy);
    return error;
}

static int register_buffers(struct uring *uring)
{
    void *memory = mmap(NULL, BUFFER_BYTES + BUFFER_RING_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        return -ENOMEM;
    uring->buffers = memory;
    uring->buffer_ring = (void *)((uint8_t *)memory + BUFFER_BYTES);
    struct io_uring_buf_reg registration = {
        .ring_addr = (uintptr_t)uring->buffer_ring,
        .ring_entries = URING_BUFFERS,
        .bgid = URING_BUFFER_GROUP,
    };
    int error = io_uring_register_buf_ring(&uring->ring, &registration, 0);
    if (error != 0)
        return error;
    io_uring_buf_ring_init(uring->buffer_ring);
    for (unsigned i = 0; i < URING_BUFFERS; i++)
        io_uring_buf_ring_add(uring->buffer_ring, uring->buffers + (size_t)i * URING_BUFFER_BYTES,
                              URING_BUFFER_BYTES, (unsigned short)i,
                              io_uring_buf_ring_mask(URING_BUFFERS), (int)i);
    io_uring_buf_ring_advance(uring->buffer_ring, URING_BUFFERS);
    return 0;
}

int uring_init(struct uring *uring, char *diagnosis, size_t diagnosis_bytes)
{
    struct io_uring_params parameters = {
        .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
                 IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_R_DISABLED | IORING_SETUP_CQSIZE |
                 IORING_SETUP_CLAMP | IORING_SETUP_SUBMIT_ALL,
        .cq_entries = URING_COMPLETIONS,
    };
    memset(uring, 0, sizeof *uring);
    int error = io_uring_queue_init_params(URING_ENTRIES, &uring->ring, &parameters);
    if (error != 0)
        return diagnose(error, "setup", diagnosis, diagnosis_bytes);
    uring->open = true;
    error = register_buffers(uring);
    if (error != 0) {
        uring_close(uring);
        return diagnose(error, "provided buffers", diagnosis, diagnosis_bytes);
    }
    return 0;
}

void uring_close(struct uring *uring)
{
    if (uring->open)
        io_uring_queue_exit(&uring->ring);
    uring->open = false;
    if (uring->buffers != NULL)
        (void)munmap(uring->buffers, BUFFER_BYTES + BUFFER_RING_BYTES);
    uring->buffers = NULL;
}

int uring_start(struct uring *uring)
{
    /* liburing 2.3 declares io_uring_enable_rings and does not export it. */
    if (syscall(SYS_io_uring_register, uring->ring.ring_fd, IORING_REGISTER_ENABLE_RINGS, NULL, 0) <
        0)
        return -errno;
    /* Without a registered descriptor each call costs one more file lookup; nothing else changes.
     * */
    (void)io_uring_register_ring_fd(&uring->ring);
    uring->started = true;
    return 0;
}

/* A free entry; a full submission queue is submitted first. */
static struct io_uring_sqe *next_sqe(struct uring *uring)
{
    struct io_uring_sqe *sqe = io_uring_get_sqe(&uring->ring);
    if (CC_UNLIKELY(sqe == NULL)) {
        (void)io_uring_submit(&uring->ring);
        sqe = io_uring_get_sqe(&uring->ring);
        INVARIANT(sqe != NULL);
    }
    return sqe;
}

void uring_accept(struct uring *uring, int file, uint32_t listener)
{
    struct io_uring_sqe *sqe = next_sqe(uring);
    io_uring_prep_multishot_accept(sqe, file, NULL, NULL, SOCK_CLOEXEC);
    io_uring_sqe_set_data64(sqe, uring_user_data(URING_ACCEPT, listener));
}

void uring_receive(struct uring *uring, int file, uint32_t index, bool once)
{
    struct io_uring_sqe *sqe = next_sqe(uring);
    if (once)
        io_uring_prep_recv(sqe, file, NULL, URING_BUFFER_BYTES, 0);
    else
        io_uring_prep_recv_multishot(sqe, file, NULL, 0, 0);
    sqe->flags |= IOSQE_BUFFER_SELECT;
    sqe->buf_group = URING_BUFFER_GROUP;
    io_uring_sqe_set_data64(sqe, uring_user_data(URING_RECEIVE, index));
}

void uring_send(struct uring *uring, int file, const uint8_t *bytes, size_t count, uint32_t index)
{
    struct io_uring_sqe *sqe = next_sqe(uring);
    io_uring_prep_send(sqe, file, bytes, count, MSG_NOSIGNAL);
    io_uring_sqe_set_data64(sqe, uring_user_data(URING_SEND, index));
}

void uring_watch(struct uring *uring, int file)
{
    struct io_uring_sqe *sqe = next_sqe(uring);
    io_uring_prep_poll_multishot(sqe, file, POLLIN);
    io_uring_sqe_set_data64(sqe, uring_user_data(URING_WAKE, 0));
}

void uring_cancel(struct uring *uring, uint64_t user_data)
{
    struct io_uring_sqe *sqe = next_sqe(uring);
    io_uring_prep_cancel64(sqe, user_data, 0);
    io_uring_sqe_set_data64(sqe, uring_user_data(URING_CANCEL, 0));
}

uint8_t *uring_buffer(const struct uring *uring, const struct io_uring_cqe *cqe)
{
    uint32_t number = cqe->flags >> IORING_CQE_BUFFER_SHIFT;
    INVARIANT(number < URING_BUFFERS);
    return uring->buffers + (size_t)number * URING_BUFFER_BYTES;
}

void uring_give_buffer(struct uring *uring, const struct io_uring_cqe *cqe)
{
    uint32_t number = cqe->flags >> IORING_CQE_BUFFER_SHIFT;
    io_uring_buf_ring_add(uring->buffer_ring, uring->buffers + (size_t)number * URING_BUFFER_BYTES,
                          URING_BUFFER_BYTES, (unsigned short)number,
                          io_uring_buf_ring_mask(URING_BUFFERS), (int)uring->returned++);
}

static void publish_buffers(struct uring *uring)
{
    if (uring->returned > 0)
        io_uring_buf_ring_advance(uring->buffer_ring, (int)uring->returned);
    uring->returned = 0;
}

/* Whether completions wait to be collected. */
static bool is_owed(const struct uring *uring)
{
    return (IO_URING_READ_ONCE(*uring->ring.sq.kflags) &
            (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) != 0;
}

void uring_flush(struct uring *uring)
{
    publish_buffers(uring);
    if (io_uring_sq_ready(&uring->ring) > 0 || is_owed(uring))
        (void)io_uring_submit_and_get_events(&uring->ring);
}

void uring_wait(struct uring *uring, uint64_t timeout_ns)
{
    struct io_uring_cqe *cqe;
    struct __kernel_timespec timeout = {
        .tv_sec = (long long)(timeout_ns / UINT64_C(1000000000)),
        .tv_nsec = (long long)(timeout_ns % UINT64_C(1000000000)),
    };
    publish_buffers(uring);
    (void)io_uring_submit_and_wait_timeout(&uring->ring, &cqe, 1, &timeout, NULL);
}

bool uring_is_ready(const struct uring *uring)
{
    return io_uring_cq_ready(&uring->ring) > 0 || is_owed(uring);
}
