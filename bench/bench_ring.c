/* bench_ring.c - the SPSC ring against ck_ring (by value), in one run: 128-byte messages.
 *
 *   ring/threads, ring_ck/threads      one producer, one consumer thread; time per message
 *   ring/publish_16                    the same, 16 messages a publish, as net does per completion
 *   ring/orders                        messages of 2 slots, as signed orders are
 *   ring/alone, ring_ck/alone          both ends in one thread: the instructions alone */
#include <ck_ring.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/ring.h"
#include "shim.h"

enum { SLOTS = 4096, BATCH = 1 << 18, WORDS = 16 };

struct message {
    uint64_t words[WORDS];
};

CK_RING_PROTOTYPE(message, message)

static struct ring ring;
static ck_ring_t ck;
static struct message ck_messages[SLOTS];
static atomic_bool ended; /* the producer has sent everything */
static uint64_t checksum;

static void *ring_memory(void)
{
    static void *memory;

    if (memory == NULL)
        memory = aligned_alloc(4096, (ring_bytes(SLOTS, sizeof(struct message)) + 4095) & ~4095ul);
    if (memory == NULL)
        abort();
    memset(memory, 0, ring_bytes(SLOTS, sizeof(struct message)));
    return memory;
}

static void *consume_ring(void *message_slots)
{
    uint64_t slots = *(const uint32_t *)message_slots;

    while (!atomic_load_explicit(&ended, memory_order_relaxed) || ring_ready(&ring) > 0) {
        uint64_t ready = ring_ready(&ring);
        for (uint64_t at = 0; at < ready; at += slots) {
            const struct message *message = ring_at(&ring, at);
            checksum += message->words[0] + message->words[WORDS / 2];
        }
        if (ready > 0)
            ring_release(&ring, ready);
        else
            __builtin_ia32_pause();
    }
    return NULL;
}

static void produce(struct bench_run *run, uint32_t slots, uint32_t publish_every)
{
    pthread_t consumer;
    uint64_t number = 0;

    ring_init(&ring, ring_memory(), SLOTS, sizeof(struct message));
    atomic_store(&ended, false);
    if (pthread_create(&consumer, NULL, consume_ring, &slots) != 0)
        abort();
    while (bench_next(run)) {
        for (uint32_t i = 0; i < BATCH; i++, number++) {
            struct message *message;
            while ((message = ring_claim(&ring, slots)) == NULL) {
                ring_publish(&ring);
                __builtin_ia32_pause();
            }
            message->words[0] = number;
            message->words[WORDS / 2] = number;
            if (number % publish_every == 0)
                ring_publish(&ring);
        }
        ring_publish(&ring);
        while (ring_used(&ring) != 0)
            __builtin_ia32_pause();
    }
    atomic_store(&ended, true);
    pthread_join(consumer, NULL);
    bench_items(run, BATCH);
    bench_keep(&checksum);
}

static void threads(struct bench_run *run)
{
    produce(run, 1, 1);
}

static void publish_16(struct bench_run *run)
{
    produce(run, 1, 16);
}

static void orders(struct bench_run *run)
{
    produce(run, 2, 16);
}

static void *consume_ck(void *unused)
{
    struct message message;

    (void)unused;
    while (!atomic_load_explicit(&ended, memory_order_relaxed))
        if (ck_ring_dequeue_spsc_message(&ck, ck_messages, &message))
            checksum += message.words[0] + message.words[WORDS / 2];
        else
            __builtin_ia32_pause();
    return NULL;
}

static void threads_ck(struct bench_run *run)
{
    pthread_t consumer;
    uint64_t number = 0;

    ck_ring_init(&ck, SLOTS);
    atomic_store(&ended, false);
    if (pthread_create(&consumer, NULL, consume_ck, NULL) != 0)
        abort();
    while (bench_next(run)) {
        for (uint32_t i = 0; i < BATCH; i++, number++) {
            struct message message;
            message.words[0] = number;
            message.words[WORDS / 2] = number;
            while (!ck_ring_enqueue_spsc_message(&ck, ck_messages, &message))
                __builtin_ia32_pause();
        }
        while (ck_ring_size(&ck) != 0)
            __builtin_ia32_pause();
    }
    atomic_store(&ended, true);
    pthread_join(consumer, NULL);
    bench_items(run, BATCH);
    bench_keep(&checksum);
}

static void alone(struct bench_run *run)
{
    uint64_t number = 0;

    ring_init(&ring, ring_memory(), SLOTS, sizeof(struct message));
    while (bench_next(run)) {
        struct message *message = ring_claim(&ring, 1);
        message->words[0] = message->words[WORDS / 2] = ++number;
        ring_publish(&ring);
        if (ring_ready(&ring) > 0) {
            checksum += ((const struct message *)ring_at(&ring, 0))->words[0];
            ring_release(&ring, 1);
        }
    }
    bench_items(run, 1);
    bench_keep(&checksum);
}

static void alone_ck(struct bench_run *run)
{
    struct message message;
    uint64_t number = 0;

    ck_ring_init(&ck, SLOTS);
    while (bench_next(run)) {
        message.words[0] = message.words[WORDS / 2] = ++number;
        if (!ck_ring_enqueue_spsc_message(&ck, ck_messages, &message) ||
            !ck_ring_dequeue_spsc_message(&ck, ck_messages, &message))
            abort();
        checksum += message.words[0];
    }
    bench_items(run, 1);
    bench_keep(&checksum);
}

void bench_register(void)
{
    bench_add("ring/threads", threads);
    bench_add("ring_ck/threads", threads_ck);
    bench_add("ring/publish_16", publish_16);
    bench_add("ring/orders", orders);
    bench_add("ring/alone", alone);
    bench_add("ring_ck/alone", alone_ck);
}
