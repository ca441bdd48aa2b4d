#include "support/sim/disk_sim.h"

#include <errno.h>
#include <stdlib.h>

#include "support/sim/sim_image.h"

enum { FILES_MAX = 64 };

/* One asynchronous write under way. */
struct flight {
    uint64_t write; /* its number in the image */
    uint64_t tag;
    uint64_t due; /* the reap that finds it done; UINT64_MAX: by disk_sim_complete */
    size_t count;
    int node;
    bool durable;
};

struct disk_sim {
    struct disk disk; /* first: a struct disk * is a struct disk_sim * */
    struct disk_sim_config config;
    struct sim_image *image;
    uint64_t random;
    uint64_t reaps;
    uint64_t writes;
    uint64_t calls;
    uint64_t fail_call;
    uint64_t stop_call;
    enum disk_sim_fault fault;
    bool fail_sticky;
    bool locked;
    struct flight flights[DISK_WRITES_MAX]; /* in order of submission */
    int flight_count;
    int nodes[FILES_MAX]; /* of open files; -1: free */
};

static struct disk_sim *sim_of(struct disk *disk)
{
    return (struct disk_sim *)(void *)disk;
}

static const struct disk_sim *sim_of_const(const struct disk *disk)
{
    return (const struct disk_sim *)(const void *)disk;
}

static bool stopped(const struct disk_sim *sim)
{
    return sim->stop_call != 0 && sim->calls >= sim->stop_call;
}

/* Counts a call that changes something. 0, or what it must fail with. */
static int call_counted(struct disk_sim *sim)
{
    bool hit;

    sim->calls++;
    if (stopped(sim))
        return -EIO;
    hit = sim->fail_call != 0 &&
          (sim->fail_sticky ? sim->calls >= sim->fail_call : sim->calls == sim->fail_call);
    if (!hit)
        return 0;
    return sim->fault == DISK_SIM_ENOSPC ? -ENOSPC : -EIO;
}

static int sim_make_folder(struct disk *disk, const char *folder)
{
    int error = call_counted(sim_of(disk));

    return error < 0 ? error : sim_image_make_folder(sim_of(disk)->image, folder);
}

static int sim_sync_folder(struct disk *disk, const char *folder)
{
    struct disk_sim *sim = sim_of(disk);
    int error = call_counted(sim);

    if (error == 0)
        error = sim_image_sync_folder(sim->image, folder);
    if (error == 0)
        sim_image_collect(sim->image, sim->nodes, FILES_MAX);
    return error;
}

static int sim_list(struct disk *disk, const char *folder, disk_visit *visit, void *context)
{
    return sim_image_list(sim_of(disk)->image, folder, visit, context);
}

static int sim_lock(struct disk *disk)
{
    if (sim_of(disk)->locked)
        return -EWOULDBLOCK;
    sim_of(disk)->locked = true;
    return 0;
}

static int sim_rename(struct disk *disk, const char *from, const char *to)
{
    int error = call_counted(sim_of(disk));

    return error < 0 ? error : sim_image_rename(sim_of(disk)->image, from, to);
}

static int sim_remove(struct disk *disk, const char *path)
{
    int error = call_counted(sim_of(disk));

    return error < 0 ? error : sim_image_unlink(sim_of(disk)->image, path);
}

static int sim_open(struct disk *disk, const char *path, unsigned flags)
{
    struct disk_sim *sim = sim_of(disk);
    int file = 0;
    int node;

    while (file < FILES_MAX && sim->nodes[file] >= 0)
        file++;
    if (file == FILES_MAX)
        return -EMFILE;
    if (flags & DISK_CREATE) {
        int error = call_counted(sim);

        if (error < 0)
            return error;
        node = sim_image_find(sim->image, path);
        if (node >= 0)
            sim_image_cut(sim->image, node);
        else
            node = sim_image_make(sim->image, path);
    } else {
        node = sim_image_find(sim->image, path);
    }
    if (node < 0)
        return node;
    sim->nodes[file] = node;
    return file;
}

static int node_of(const struct disk_sim *sim, int file)
{
    INVARIANT(file >= 0 && file < FILES_MAX && sim->nodes[file] >= 0);
    return sim->nodes[file];
}

static void sim_close(struct disk *disk, int file)
{
    INVARIANT(file >= 0 && file < FILES_MAX);
    sim_of(disk)->nodes[file] = -1; /* it may be so already: the process died, its owner did not */
}

static int64_t sim_size(struct disk *disk, int file)
{
    return (int64_t)sim_image_size(sim_of(disk)->image, node_of(sim_of(disk), file));
}

static int64_t sim_read(struct disk *disk, int file, uint64_t offset, void *bytes, size_t count)
{
    struct disk_sim *sim = sim_of(disk);

    return (int64_t)sim_image_read(sim->image, node_of(sim, file), offset, bytes, count);
}

static bool space_for(const struct disk_sim *sim, int node, uint64_t end)
{
    uint64_t size = sim_image_size(sim->image, node);

    return sim->config.bytes_max == 0 || end <= size ||
           sim_image_total(sim->image) + (end - size) <= sim->config.bytes_max;
}

static int sim_write(struct disk *disk, int file, uint64_t offset, const void *bytes, size_t count)
{
    struct disk_sim *sim = sim_of(disk);
    int node = node_of(sim, file);
    int error = call_counted(sim);

    if (error == 0 && !space_for(sim, node, offset + count))
        error = -ENOSPC;
    if (error < 0 && stopped(sim))
        return error;
    /* A write that fails may have left any of its blocks behind. */
    sim_image_write(sim->image, node, offset, bytes, count, ++sim->writes, error == 0);
    if (error < 0)
        sim_image_fail(sim->image, node, sim->writes);
    return error;
}

static int sim_allocate(struct disk *disk, int file, uint64_t bytes)
{
    struct disk_sim *sim = sim_of(disk);
    int error = call_counted(sim);

    if (error < 0)
        return error;
    if (!space_for(sim, node_of(sim, file), bytes))
        return -ENOSPC;
    sim_image_resize(sim->image, node_of(sim, file), bytes);
    return 0;
}

static int sim_sync(struct disk *disk, int file)
{
    struct disk_sim *sim = sim_of(disk);
    int error = call_counted(sim);

    if (error < 0)
        return error;
    sim_image_sync(sim->image, node_of(sim, file));
    return 0;
}

static void sim_random(struct disk *disk, void *bytes, size_t count)
{
    struct disk_sim *sim = sim_of(disk);
    uint8_t *out = bytes;

    for (size_t i = 0; i < count; i++)
        out[i] = (uint8_t)sim_image_random(&sim->random);
}

static int sim_submit(struct disk *disk, int file, uint64_t offset, const void *bytes, size_t count,
                      uint64_t tag, bool durable)
{
    struct disk_sim *sim = sim_of(disk);
    uint64_t latency = sim->config.latency_max;
    struct flight *flight;
    int error = call_counted(sim);

    INVARIANT(offset % disk->block_bytes == 0 && count % disk->block_bytes == 0 && count > 0);
    INVARIANT(sim->flight_count < DISK_WRITES_MAX);
    if (error < 0)
        return error;
    flight = &sim->flights[sim->flight_count++];
    *flight = (struct flight){
        .write = ++sim->writes,
        .tag = tag,
        .count = count,
        .node = node_of(sim, file),
        .durable = durable,
        .due =
            latency == 0 ? UINT64_MAX : sim->reaps + 1 + sim_image_random(&sim->random) % latency,
    };
    sim_image_write(sim->image, flight->node, offset, bytes, count, flight->write, false);
    return 0;
}

/* Ends one write: gives what the completion says. */
static int64_t flight_land(struct disk_sim *sim, const struct flight *flight)
{
    int error = call_counted(sim);
    uint64_t bytes = flight->count;

    if (error < 0 && !stopped(sim))
        sim_image_fail(sim->image, flight->node, flight->write);
    if (error < 0 && sim->fault != DISK_SIM_SHORT)
        return error;
    if (error < 0) {
        uint64_t blocks = flight->count / sim->disk.block_bytes;

        bytes = sim_image_random(&sim->random) % blocks * sim->disk.block_bytes;
    }
    sim_image_settle(sim->image, flight->node, flight->write, bytes, flight->durable && error == 0);
    return (int64_t)bytes;
}

static void flight_remove(struct disk_sim *sim, int index)
{
    sim->flight_count--;
    memmove(&sim->flights[index], &sim->flights[index + 1],
            (size_t)(sim->flight_count - index) * sizeof sim->flights[0]);
}

static int sim_reap(struct disk *disk, struct disk_done *done, int done_max)
{
    struct disk_sim *sim = sim_of(disk);
    int count = 0;

    sim->reaps++;
    if (stopped(sim))
        return 0;
    while (count < done_max) {
        int ready[DISK_WRITES_MAX];
        int ready_count = 0;
        int index;

        for (int i = 0; i < sim->flight_count; i++) {
            if (sim->flights[i].due <= sim->reaps)
                ready[ready_count++] = i;
        }
        if (ready_count == 0)
            break;
        index = ready[sim_image_random(&sim->random) % (unsigned)ready_count];
        done[count].tag = sim->flights[index].tag;
        done[count].result = flight_land(sim, &sim->flights[index]);
        if (stopped(sim))
            break;
        count++;
        flight_remove(sim, index);
    }
    return count;
}

/* Time passes: the oldest write has landed when this returns. */
static int sim_wait(struct disk *disk, int wake_file, uint64_t timeout_ns)
{
    struct disk_sim *sim = sim_of(disk);

    (void)timeout_ns;
    if (sim->flight_count == 0)
        return wake_file < 0 ? -ENOENT : 0;
    sim->flights[0].due = 0;
    return stopped(sim) ? -EIO : 0;
}

static const struct disk_ops sim_ops = {
    .make_folder = sim_make_folder,
    .sync_folder = sim_sync_folder,
    .list = sim_list,
    .lock = sim_lock,
    .rename = sim_rename,
    .remove = sim_remove,
    .open = sim_open,
    .close = sim_close,
    .size = sim_size,
    .read = sim_read,
    .write = sim_write,
    .allocate = sim_allocate,
    .sync = sim_sync,
    .random = sim_random,
    .submit = sim_submit,
    .reap = sim_reap,
    .wait = sim_wait,
};

/* Every process that had the disk open is gone. */
static void processes_end(struct disk_sim *sim)
{
    sim->flight_count = 0;
    sim->locked = false;
    for (int i = 0; i < FILES_MAX; i++)
        sim->nodes[i] = -1;
    disk_sim_fail(&sim->disk, 0, DISK_SIM_EIO, false);
    disk_sim_stop_at(&sim->disk, 0);
}

struct disk *disk_sim_create(const struct disk_sim_config *config)
{
    struct disk_sim *sim = calloc(1, sizeof *sim);

    if (!sim)
        return NULL;
    INVARIANT(config->block_bytes == 512 || config->block_bytes == 4096);
    sim->disk.ops = &sim_ops;
    sim->disk.block_bytes = config->block_bytes;
    sim->config = *config;
    sim->random = config->seed;
    sim->image = sim_image_create(config->block_bytes);
    processes_end(sim);
    return &sim->disk;
}

void disk_sim_destroy(struct disk *disk)
{
    sim_image_destroy(sim_of(disk)->image);
    free(sim_of(disk));
}

struct disk *disk_sim_copy(const struct disk *disk)
{
    struct disk_sim *copy = malloc(sizeof *copy);

    if (!copy)
        return NULL;
    *copy = *sim_of_const(disk);
    copy->image = sim_image_copy(copy->image);
    return &copy->disk;
}

void disk_sim_crash(struct disk *disk, uint64_t seed)
{
    sim_image_crash(sim_of(disk)->image, seed);
    processes_end(sim_of(disk));
}

void disk_sim_kill(struct disk *disk, uint64_t seed)
{
    struct disk_sim *sim = sim_of(disk);
    uint64_t random = seed;

    for (int i = 0; i < sim->flight_count; i++) {
        const struct flight *flight = &sim->flights[i];

        if (sim_image_random(&random) & 1U)
            sim_image_settle(sim->image, flight->node, flight->write, flight->count,
                             flight->durable);
        else
            sim_image_forget(sim->image, flight->node, flight->write);
    }
    sim_image_end_failed(sim->image); /* what a process failed to write ends with it */
    processes_end(sim);
}

void disk_sim_crash_exact(struct disk *disk, const uint64_t *masks, int mask_count)
{
    struct disk_sim *sim = sim_of(disk);
    uint64_t writes[DISK_WRITES_MAX];

    INVARIANT(mask_count == sim->flight_count);
    for (int i = 0; i < sim->flight_count; i++)
        writes[i] = sim->flights[i].write;
    sim_image_crash_exact(sim->image, writes, masks, mask_count);
    processes_end(sim);
}

int disk_sim_in_flight(const struct disk *disk)
{
    return sim_of_const(disk)->flight_count;
}

void disk_sim_complete(struct disk *disk, int index)
{
    INVARIANT(index >= 0 && index < sim_of(disk)->flight_count);
    sim_of(disk)->flights[index].due = 0;
}

void disk_sim_set_latency(struct disk *disk, uint32_t latency_max)
{
    sim_of(disk)->config.latency_max = latency_max;
}

void disk_sim_set_full(struct disk *disk, bool is_full)
{
    struct disk_sim *sim = sim_of(disk);

    sim->config.bytes_max = is_full ? sim_image_total(sim->image) : 0;
    if (is_full && sim->config.bytes_max == 0)
        sim->config.bytes_max = 1; /* 0 is endless */
}

void disk_sim_fail(struct disk *disk, uint64_t call, enum disk_sim_fault fault, bool sticky)
{
    struct disk_sim *sim = sim_of(disk);

    sim->calls = 0;
    sim->fail_call = call;
    sim->fault = fault;
    sim->fail_sticky = sticky;
}

void disk_sim_stop_at(struct disk *disk, uint64_t call)
{
    sim_of(disk)->calls = 0;
    sim_of(disk)->stop_call = call;
}

uint64_t disk_sim_calls(const struct disk *disk)
{
    return sim_of_const(disk)->calls;
}

bool disk_sim_is_stopped(const struct disk *disk)
{
    return stopped(sim_of_const(disk));
}

static int node_named(const struct disk *disk, const char *path)
{
    int node = sim_image_find(sim_of_const(disk)->image, path);

    INVARIANT(node >= 0);
    return node;
}

uint64_t disk_sim_file_bytes(const struct disk *disk, const char *path)
{
    return sim_image_size(sim_of_const(disk)->image, node_named(disk, path));
}

bool disk_sim_exists(const struct disk *disk, const char *path)
{
    return sim_image_find(sim_of_const(disk)->image, path) >= 0;
}

void disk_sim_peek(const struct disk *disk, const char *path, uint64_t offset, void *out,
                   size_t count)
{
    size_t got =
        sim_image_read(sim_of_const(disk)->image, node_named(disk, path), offset, out, count);

    INVARIANT(got == count);
}

void disk_sim_poke(struct disk *disk, const char *path, uint64_t offset, const void *bytes,
                   size_t count)
{
    sim_image_poke(sim_of(disk)->image, node_named(disk, path), offset, bytes, count);
}

void disk_sim_remove(struct disk *disk, const char *path)
{
    sim_image_remove(sim_of(disk)->image, path);
}

uint64_t disk_sim_digest(const struct disk *disk)
{
    return sim_image_digest(sim_of_const(disk)->image);
}
