/* The ring of ring.h: messages of 1 to 34 slots, each in one piece, in order, none lost, and never
 * one over another that is still owned; two threads under ThreadSanitizer. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/ring.h"
#include "check.h"

enum { SLOT_WORDS = 2, SLOT_BYTES = SLOT_WORDS * 8, SLOTS = 64 };

static uint64_t memory_words[(SLOTS + RING_TAIL) * SLOT_WORDS + 8]; /* 8: space to align in */
static struct ring ring;

static void make(void)
{
    uintptr_t start =
        ((uintptr_t)memory_words + CC_CACHE_LINE - 1) & ~(uintptr_t)(CC_CACHE_LINE - 1);

    CHECK(ring_bytes(SLOTS, SLOT_BYTES) == (SLOTS + RING_TAIL) * SLOT_BYTES);
    ring_init(&ring, (void *)start, SLOTS, SLOT_BYTES);
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static uint32_t next_size(uint64_t *state)
{
    uint64_t random = next_random(state);

    return random % 4 != 0 ? 1 + (uint32_t)(random >> 2) % 2
                           : 1 + (uint32_t)(random >> 2) % RING_MESSAGE_SLOTS_MAX;
}

static void fill(uint64_t *message, uint32_t size, uint64_t number)
{
    for (uint32_t w = 0; w < size * SLOT_WORDS; w++)
        message[w] = number << 16 | (uint64_t)size << 8 | (w & 0xff);
}

static void check_message(const uint64_t *message, uint32_t size, uint64_t number)
{
    for (uint32_t w = 0; w < size * SLOT_WORDS; w++)
        CHECK(message[w] == (number << 16 | (uint64_t)size << 8 | (w & 0xff)));
}

static void test_full_and_empty(void)
{
    make();
    CHECK(ring_ready(&ring) == 0);
    CHECK(ring_free(&ring) == SLOTS && ring_used(&ring) == 0);
    void *first = ring_claim(&ring, 34);
    CHECK(first != NULL);
    CHECK(ring_ready(&ring) == 0); /* claimed is not published */
    CHECK(ring_claim(&ring, 30) != NULL);
    CHECK(ring_claim(&ring, 1) == NULL);
    CHECK(ring_free(&ring) == 0 && ring_used(&ring) == SLOTS);
    ring_publish(&ring);
    CHECK(ring_ready(&ring) == SLOTS);
    CHECK(ring_at(&ring, 0) == first);
    ring_release(&ring, 34);
    CHECK(ring_ready(&ring) == 30);
    CHECK(ring_free(&ring) == 34 && ring_claim(&ring, 35 - 1) != NULL); /* from slot 0 again */
    CHECK(ring_claim(&ring, 1) == NULL);
    ring_release(&ring, 30);
    CHECK(ring_claim(&ring, 30) != NULL && ring_claim(&ring, 1) == NULL);
}

/* A message that begins at the last slot runs into the tail; the next one begins where it would
 * have ended, and both are whole until they are released. */
static void test_boundary(void)
{
    for (uint32_t begin = SLOTS - RING_TAIL; begin < SLOTS; begin++) {
        make();
        for (uint32_t done = 0; done < begin; done++) { /* move to `begin` */
            CHECK(ring_claim(&ring, 1) != NULL);
            ring_publish(&ring);
            CHECK(ring_ready(&ring) == 1);
            ring_release(&ring, 1);
        }
        unsigned char *first = ring_claim(&ring, 34);
        unsigned char *second = ring_claim(&ring, 30);
        CHECK(first == ring.slots + begin * SLOT_BYTES);
        CHECK(second == ring.slots + (begin + 34) % SLOTS * SLOT_BYTES);
        fill((uint64_t *)(void *)first, 34, 1);
        fill((uint64_t *)(void *)second, 30, 2);
        ring_publish(&ring);
        CHECK(ring_ready(&ring) == 64);
        check_message(ring_at(&ring, 0), 34, 1);
        check_message(ring_at(&ring, 34), 30, 2);
        ring_release(&ring, 34);
        check_message(ring_at(&ring, 0), 30, 2);
    }
}

/* Every claim against the ranges of all messages that are still owned: no two may meet. */
static void test_no_overlap(void)
{
    static struct {
        unsigned char *at;
        uint32_t size;
    } live[SLOTS];
    uint64_t random = 5;
    uint64_t oldest = 0, newest = 0;
    uint32_t refused = 0;

    make();
    for (uint32_t turn = 0; turn < 200000; turn++) {
        uint32_t size = next_size(&random);
        unsigned char *at = ring_claim(&ring, size);
        if (at != NULL) {
            CHECK(at >= ring.slots);
            CHECK(at + size * SLOT_BYTES <= ring.slots + ring_bytes(SLOTS, SLOT_BYTES));
            for (uint64_t k = oldest; k < newest; k++)
                CHECK(at + size * SLOT_BYTES <= live[k % SLOTS].at ||
                      live[k % SLOTS].at + live[k % SLOTS].size * SLOT_BYTES <= at);
            live[newest % SLOTS].at = at;
            live[newest++ % SLOTS].size = size;
            ring_publish(&ring);
        }
        refused += at == NULL;
        if (at == NULL || next_random(&random) % 3 == 0) {
            uint64_t ready = ring_ready(&ring);
            while (ready > 0 && next_random(&random) % 4 != 0) {
                CHECK(ring_at(&ring, 0) == live[oldest % SLOTS].at);
                ready -= live[oldest % SLOTS].size;
                ring_release(&ring, live[oldest++ % SLOTS].size);
            }
        }
    }
    CHECK(refused > 100 && oldest > 10000);
}

enum { MESSAGES = 200000 };

static void *consume(void *unused)
{
    uint64_t random = 99;

    (void)unused;
    for (uint64_t number = 0; number < MESSAGES;) {
        uint64_t ready = ring_ready(&ring);
        uint64_t read = 0;
        while (read < ready) {
            uint32_t size = next_size(&random);
            check_message(ring_at(&ring, read), size, number++);
            read += size;
        }
        CHECK(read == ready); /* whole messages only */
        if (ready > 0)
            ring_release(&ring, ready);
        else
            sched_yield();
    }
    return NULL;
}

static void test_two_threads(void)
{
    pthread_t consumer;
    uint64_t random = 99, batch = 1;

    make();
    CHECK(pthread_create(&consumer, NULL, consume, NULL) == 0);
    for (uint64_t number = 0; number < MESSAGES; number++) {
        uint32_t size = next_size(&random);
        void *message;
        while ((message = ring_claim(&ring, size)) == NULL) {
            ring_publish(&ring);
            sched_yield();
        }
        CHECK(ring_used(&ring) + ring_free(&ring) >= SLOTS);
        fill(message, size, number);
        if (number % 5 == 0 || next_random(&batch) % 3 == 0) /* several messages, one publish */
            ring_publish(&ring);
    }
    ring_publish(&ring);
    CHECK(pthread_join(consumer, NULL) == 0);
    CHECK(ring_used(&ring) == 0);
}

int main(void)
{
    test_full_and_empty();
    test_boundary();
    test_no_overlap();
    test_two_threads();
    return 0;
}
