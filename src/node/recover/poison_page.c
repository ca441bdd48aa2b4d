#include "node/recover/poison_page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hex.h"
#include "base/ring.h"

enum {
    PAGE_BYTES = 4096,
    LAYOUT_VERSION = 1,
    SLOTS_MAX = 1 << 20,
    /* A process that ends may remove the file between our open and our lock, or hold it a moment
     * longer than its directory, while its memory map is still in use. */
    OPEN_TRIES = 100,
    OPEN_PAUSE_NS = 10 * 1000 * 1000,
};

/* The file's first page. */
struct poison_head {
    uint8_t magic[8];
    uint32_t layout_version;
    uint32_t ring_count;
    uint32_t slot_count; /* of each ring, the tail apart */
    uint32_t slot_bytes;
    uint8_t exchange_id[32];
    uint64_t run;
    CC_NO_SHARE struct fault_mark mark;
};

static_assert(sizeof(struct poison_head) <= PAGE_BYTES, "one page");

static const uint8_t magic[8] = { 'p', 'e', 'r', 'p', 'd', 'P', 'G', 'E' };

static size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Checks that it is a regular file of this user, private, and still the file of that name. */
static int check_file(const struct poison_page *page)
{
    struct stat file, name;

    if (fstat(page->file, &file) != 0)
        return -errno;
    if (!S_ISREG(file.st_mode) || file.st_uid != geteuid() || (file.st_mode & 077) != 0)
        return -EPERM;
    if (stat(page->path, &name) != 0 || name.st_ino != file.st_ino || name.st_dev != file.st_dev)
        return -ESTALE;
    return 0;
}

static int open_once(struct poison_page *page)
{
    page->file = open(page->path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (page->file < 0)
        return -errno;
    int failed = flock(page->file, LOCK_EX | LOCK_NB) != 0 ? -errno : check_file(page);
    if (failed != 0) {
        close(page->file);
        page->file = -1;
    }
    return failed;
}

int poison_page_open(struct poison_page *page, const char *folder, const uint8_t exchange_id[32])
{
    const struct timespec pause = { .tv_nsec = OPEN_PAUSE_NS };
    char text[2 * 32 + 1];
    int failed = -ESTALE;

    *page = (struct poison_page){ .file = -1 };
    memcpy(page->exchange_id, exchange_id, sizeof page->exchange_id);
    hex_encode(text, exchange_id, sizeof page->exchange_id);
    int wrote = snprintf(page->path, sizeof page->path, "%s/perpd-%s", folder, text);
    INVARIANT(wrote > 0 && wrote < (int)sizeof page->path);
    for (int i = 0; i < OPEN_TRIES && (failed == -ESTALE || failed == -EWOULDBLOCK); i++) {
        if (i > 0)
            (void)nanosleep(&pause, NULL);
        failed = open_once(page);
    }
    return failed;
}

/* ---- the previous process -------------------------------------------------------------------- */

static bool read_head(const struct poison_page *page, struct poison_head *head)
{
    if (pread(page->file, head, sizeof *head, 0) != (ssize_t)sizeof *head)
        return false;
    uint32_t slots = head->slot_count;
    return memcmp(head->magic, magic, sizeof magic) == 0 &&
           head->layout_version == LAYOUT_VERSION &&
           memcmp(head->exchange_id, page->exchange_id, sizeof head->exchange_id) == 0 &&
           head->ring_count <= POISON_RINGS_MAX && head->slot_bytes == MESSAGE_SLOT_BYTES &&
           slots <= SLOTS_MAX && slots != 0 && (slots & (slots - 1)) == 0;
}

/* Whether the parts of the command fit in the message read and have the sizes of its code. */
static bool is_command(const struct command *command, size_t bytes)
{
    const struct request *row = request_find(command->code);
    uint32_t before = command->kind == COMMAND_UNSIGNED ? 0 : REQUEST_BODY_AT;
    uint32_t least = before + (row == NULL ? 0 : row->body_bytes);

    return row != NULL && command->kind <= COMMAND_PASSKEY &&
           command->payload_bytes <= REQUEST_PAYLOAD_MAX && command->payload_bytes >= least &&
           (row->form != BODY_FIXED || command->payload_bytes == least) &&
           command->payload_bytes >= before + sizeof(uint64_t) && command_bytes(command) <= bytes;
}

/* The command in that slot; false when there is none that makes sense. */
static bool read_command(const struct poison_page *page, const struct poison_head *head,
                         struct poison_fault *fault)
{
    union {
        struct command command;
        uint8_t bytes[COMMAND_SLOTS_MAX * MESSAGE_SLOT_BYTES];
    } message;
    size_t stride = whole_pages(ring_bytes(head->slot_count, MESSAGE_SLOT_BYTES));
    size_t at = PAGE_BYTES + fault->ring * stride + (size_t)fault->slot * MESSAGE_SLOT_BYTES;

    if (fault->ring >= head->ring_count || fault->slot >= head->slot_count)
        return false;
    ssize_t got = pread(page->file, &message, sizeof message, (off_t)at);
    if (got < (ssize_t)sizeof message.command || !is_command(&message.command, (size_t)got))
        return false;
    const struct command *command = &message.command;
    fault->code = command->code;
    fault->payload_bytes = command->payload_bytes;
    memcpy(fault->payload, command_payload(command), command->payload_bytes);
    fault->has_id = command->kind != COMMAND_UNSIGNED;
    if (fault->has_id) {
        memcpy(fault->id, command_request_id(command), sizeof fault->id);
        fault->account = command->duplicate_account != 0 ? command->duplicate_account
                                                         : cc_load64(command_body(command));
    }
    return true;
}

bool poison_page_read(const struct poison_page *page, struct poison_fault *fault)
{
    struct poison_head head;

    memset(fault, 0, sizeof *fault);
    if (!read_head(page, &head))
        return false;
    /* relaxed: our own copy, of a process that has ended. */
    uint64_t location = atomic_load_explicit(&head.mark.applying, memory_order_relaxed);
    uint64_t number = atomic_load_explicit(&head.mark.faulted, memory_order_relaxed);
    if (number == 0)
        return false;
    fault->run = head.run;
    fault->signal = (uint32_t)number;
    fault->code = POISON_CODE_UNKNOWN;
    if ((location & FAULT_IN_RING) != 0) {
        fault->ring = (uint32_t)(location >> 32) & INT32_MAX;
        fault->slot = (uint32_t)location;
        fault->from_ring = true;
        if (!read_command(page, &head, fault))
            fault->code = POISON_CODE_UNKNOWN;
    } else if ((location & FAULT_AUTHORED) != 0 && request_find(location & UINT16_MAX) != NULL) {
        fault->code = (uint16_t)location;
    }
    return true;
}

/* ---- our own --------------------------------------------------------------------------------- */

int poison_page_map(struct poison_page *page, uint32_t ring_count, uint32_t slot_count,
                    uint64_t run)
{
    INVARIANT(page->file >= 0 && page->memory == NULL);
    INVARIANT(ring_count <= POISON_RINGS_MAX && slot_count <= SLOTS_MAX);
    page->ring_bytes = whole_pages(ring_bytes(slot_count, MESSAGE_SLOT_BYTES));
    page->bytes = PAGE_BYTES + ring_count * page->ring_bytes;
    if (ftruncate(page->file, 0) != 0)
        return -errno;
    int failed = posix_fallocate(page->file, 0, (off_t)page->bytes); /* a full tmpfs shows here */
    if (failed != 0)
        return -failed;
    void *memory =
        mmap(NULL, page->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, page->file, 0);
    if (memory == MAP_FAILED)
        return -errno;
    page->memory = memory;
    struct poison_head *head = memory;
    memcpy(head->magic, magic, sizeof magic);
    head->layout_version = LAYOUT_VERSION;
    head->ring_count = ring_count;
    head->slot_count = slot_count;
    head->slot_bytes = MESSAGE_SLOT_BYTES;
    memcpy(head->exchange_id, page->exchange_id, sizeof head->exchange_id);
    head->run = run;
    return 0;
}

struct fault_mark *poison_page_mark(const struct poison_page *page)
{
    return &((struct poison_head *)(void *)page->memory)->mark;
}

void *poison_page_ring(const struct poison_page *page, uint32_t ring)
{
    size_t at = PAGE_BYTES + ring * page->ring_bytes;

    INVARIANT(at + page->ring_bytes <= page->bytes);
    return page->memory + at;
}

void poison_page_close(struct poison_page *page, bool remove)
{
    if (page->memory != NULL)
        munmap(page->memory, page->bytes);
    if (page->file >= 0) {
        if (remove)
            unlink(page->path);
        close(page->file);
    }
    *page = (struct poison_page){ .file = -1 };
}
