#include "node/recover/poison.h"

#include <errno.h>

#include "base/hex.h"
#include "base/log.h"
#include "base/node_exit.h"
#include "base/uuid.h"

enum { PAYLOAD_LINE_BYTES = 384 }; /* of a payload in one line of the log, two digits each */

const char *poison_type_name(uint16_t code)
{
    const struct request *row = request_find(code);
    return row == NULL ? "unknown" : row->name;
}

/* ---- what the previous process left ---------------------------------------------------------- */

/* The payload alone: what follows it in a command is a signature, and the hash of a secret. */
static void log_fault(const struct poison_fault *fault)
{
    char digits[2 * PAYLOAD_LINE_BYTES + 1];
    char id[UUID_TEXT_BYTES + 1] = "none";
    struct uuid uuid;

    memcpy(uuid.bytes, fault->id, sizeof uuid.bytes);
    if (fault->has_id)
        uuid_format(&uuid, id);
    log_line(LOG_ERROR, "poison",
             "the process before ended by signal %u while it applied this command: code=%u type=%s "
             "account=%lu id=%s authored=%d payload_bytes=%u",
             fault->signal, fault->code, poison_type_name(fault->code), fault->account, id,
             !fault->from_ring, fault->payload_bytes);
    for (uint32_t at = 0; at < fault->payload_bytes; at += PAYLOAD_LINE_BYTES) {
        uint32_t left = fault->payload_bytes - at;
        uint32_t count = left < PAYLOAD_LINE_BYTES ? left : PAYLOAD_LINE_BYTES;
        hex_encode(digits, fault->payload + at, count);
        log_line(LOG_ERROR, "poison-payload", "offset=%u hex=%s", at, digits);
    }
}

/* 0 or -errno of the disk. */
static int note_fault(struct poison *poison, struct disk *disk, const uint8_t exchange_id[32],
                      const struct poison_fault *fault, uint64_t now_ns)
{
    struct poison_row row = {
        .account = fault->account,
        .found_ns = now_ns,
        .code = fault->code,
        .has_id = fault->has_id,
        .signal = fault->signal,
    };

    if (fault->run == poison->file.run)
        return 0; /* a start that ended between the file and the page noted it */
    log_fault(fault);
    memcpy(row.id, fault->id, sizeof row.id);
    poison_file_add(&poison->file, &row);
    poison->file.run = fault->run;
    return poison_file_store(&poison->file, disk, exchange_id);
}

/* ---- what follows from the file -------------------------------------------------------------- */

static bool is_off(const struct poison *poison, uint16_t code)
{
    for (uint32_t i = 0; i < poison->off_count; i++)
        if (poison->off[i] == code)
            return true;
    return false;
}

static void put_off(struct poison *poison)
{
    const struct poison_file *file = &poison->file;

    for (uint32_t i = 0; i < file->row_count; i++) {
        uint16_t code = file->rows[i].code;
        poison->refused_count++;
        if (poison_file_count(file, code) < POISON_TYPE_MAX || is_off(poison, code))
            continue;
        poison->off[poison->off_count++] = code;
        log_line(LOG_WARN, "poison",
                 "requests of type %s are put off: the process aborted on %u of them; `perp admin "
                 "clear-poison` lets them in again",
                 poison_type_name(code), poison_file_count(file, code));
    }
}

static int stop(const struct poison_row *row)
{
    log_line(LOG_ERROR, "poison",
             "no start: the process aborted on a command without request id: code=%u type=%s; find "
             "the cause, then `perp admin clear-poison`",
             row->code, poison_type_name(row->code));
    return NODE_EXIT_FAILED;
}

/* ---- start and end --------------------------------------------------------------------------- */

static int refuse_file(int error)
{
    if (error == -EXDEV) {
        log_line(LOG_ERROR, "refused",
                 "the data directory's file `poison` belongs to another exchange.id");
        return NODE_EXIT_REFUSED;
    }
    log_line(LOG_ERROR, "poison", "the file `poison`: %s", strerror(-error));
    return NODE_EXIT_FAILED;
}

static int refuse_page(const struct poison_page *page, int error)
{
    if (error == -EWOULDBLOCK) {
        log_line(LOG_ERROR, "refused", "%s is in use: a perpd with this exchange.id runs already",
                 page->path);
        return NODE_EXIT_REFUSED;
    }
    log_line(LOG_ERROR, "poison", "%s, the command rings' memory: %s", page->path,
             error == -EPERM ? "belongs to another user, or others may use it" : strerror(-error));
    return NODE_EXIT_FAILED;
}

/* A damaged file says nothing that can be trusted, and does not stop a start. 0 or -errno. */
static int set_aside(struct poison *poison, struct disk *disk)
{
    int error = disk_rename(disk, "poison", "poison.damaged");

    if (error == 0)
        error = disk_sync_folder(disk, "");
    if (error != 0)
        return error;
    poison->was_damaged = true;
    log_line(LOG_ERROR, "poison",
             "the file `poison` is damaged or of another version: it is poison.damaged now, and "
             "what it put off is let in again");
    return 0;
}

int poison_open(struct poison *poison, struct disk *disk, const char *folder,
                const uint8_t exchange_id[32], const uint8_t page_id[32], uint64_t now_ns,
                uint32_t ring_count, uint32_t slot_count)
{
    static struct poison_fault fault; /* 4 KiB, start-up only */

    memset(poison, 0, sizeof *poison);
    int error = poison_file_load(&poison->file, disk, exchange_id);
    if (error == -EBADMSG)
        error = set_aside(poison, disk);
    if (error != 0)
        return refuse_file(error);
    error = poison_page_open(&poison->page, folder, page_id);
    if (error != 0)
        return refuse_page(&poison->page, error);
    poison->is_open = true;
    if (poison_page_read(&poison->page, &fault)) {
        error = note_fault(poison, disk, exchange_id, &fault, now_ns);
        if (error != 0)
            return refuse_file(error);
    }
    poison->noted = true;
    const struct poison_row *row = poison_file_stop(&poison->file);
    if (row != NULL)
        return stop(row);
    put_off(poison);
    error = poison_page_map(&poison->page, ring_count, slot_count, now_ns);
    return error == 0 ? 0 : refuse_page(&poison->page, error);
}

void poison_watch(struct poison *poison)
{
    fault_watch(poison_page_mark(&poison->page));
}

void poison_close(struct poison *poison)
{
    if (!poison->is_open)
        return;
    fault_unwatch();
    poison_page_close(&poison->page, poison->noted);
    poison->is_open = false;
}
