/* A commit that meets a damaged page of the history is the last one of its run (journal.md,
 * History): who went on in such pages would end with them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"
#include "exchange_random.h"

enum { ACCOUNTS = 3, CAPACITY = 1024, COMMANDS = 20, PAGE_BYTES = 4096, HEAD_PAGES = 2 };

static struct exchange exchange;
static struct history_file *file;
static char folder[] = "/tmp/perpd-damage-XXXXXX";

static void open_all(void)
{
    static const uint8_t id[HISTORY_ID_BYTES] = { 1 };

    CHECK(mkdtemp(folder) != NULL && history_file_open(&file, folder, id) == 0);
    exchange_open(&exchange, CAPACITY, ACCOUNTS);
    exchange.seed = 43;
    exchange.rich = true;
    history_destroy(exchange.sink.history);
    exchange.sink.history = history_create(CAPACITY, ACCOUNTS + 2, exchange.host.key);
    CHECK(exchange.sink.history != NULL && history_attach(exchange.sink.history, file) == 0);
}

static void close_all(void)
{
    static const char *const names[] = { "data.mdb", "lock.mdb" };
    char path[64];

    exchange_close(&exchange);
    history_file_close(file);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        CHECK(unlink(path) == 0);
    }
    CHECK(rmdir(folder) == 0);
}

/* Every page but the two heads becomes zeros. */
static void damage(void)
{
    static const uint8_t zeros[PAGE_BYTES];
    char path[64];

    snprintf(path, sizeof path, "%s/data.mdb", folder);
    int disk = open(path, O_WRONLY);
    off_t end = disk < 0 ? -1 : lseek(disk, 0, SEEK_END);
    CHECK(end > (HEAD_PAGES + 1) * PAGE_BYTES);
    for (off_t at = HEAD_PAGES * PAGE_BYTES; at < end; at += PAGE_BYTES)
        CHECK(pwrite(disk, zeros, sizeof zeros, at) == (ssize_t)sizeof zeros);
    CHECK(close(disk) == 0);
}

static void publish_more(struct history_keep *keep)
{
    exchange_random_run(&exchange, COMMANDS);
    history_keep_publish(keep, engine_sequence(exchange.host.engine));
}

int main(void)
{
    open_all();
    struct history_keep *keep = &exchange.sink.history->keep;
    publish_more(keep);
    CHECK(history_keep_flush(keep, true) >= 0);
    uint64_t applied = history_file_applied(file);
    CHECK(applied == engine_sequence(exchange.host.engine) && history_keep_is_written(keep));
    damage();
    publish_more(keep);
    CHECK(engine_sequence(exchange.host.engine) > applied && !history_keep_is_full(keep));
    CHECK(history_keep_flush(keep, false) == -EBADMSG);
    CHECK(!history_keep_is_written(keep));
    CHECK(history_keep_flush(keep, false) == 0); /* nothing more is tried */
    CHECK(history_file_applied(file) == applied);
    close_all();
    return 0;
}
