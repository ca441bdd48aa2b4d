/* One verdict of 4,096 is verified a second time, from the same input; in the mode for it, every
 * refusal too (signatures.md, Verdict audit). */
#include <stdlib.h>

#include "check.h"
#include "net/fixture.h"
#include "net/request/verdict_audit.h"

static struct fixture fixture;
static struct protocol *protocol;
static struct ring audits;

static void begin(uint32_t slots, bool rejects)
{
    fixture_init(&fixture, true, 1024);
    void *memory = aligned_alloc(128, (ring_bytes(slots, MESSAGE_SLOT_BYTES) + 127) & ~127ul);
    CHECK(memory != NULL);
    ring_init(&audits, memory, slots, MESSAGE_SLOT_BYTES);
    fixture.config.audits = &audits;
    fixture.config.audits_rejects = rejects;
    protocol = fixture_protocol(&fixture, 256);
}

static void end(void)
{
    fixture_protocol_free(protocol);
    fixture_free(&fixture);
    free(audits.slots);
}

/* The next verdict that was told; it can be verified from its own bytes. */
static struct ed25519_job next_job(bool *good)
{
    CHECK(ring_ready(&audits) >= 1);
    const struct audited_verdict *audited = ring_at(&audits, 0);
    CHECK(audited->path == ed25519_path_in_use());
    CHECK(audited->slot_count == audited_verdict_slots(audited->message_bytes));
    *good = audited->good;
    ring_release(&audits, audited->slot_count); /* the bytes stay until the producer comes round */
    return (struct ed25519_job){ .key = audited->key,
                                 .signature = audited->signature,
                                 .message = audited->message,
                                 .message_bytes = audited->message_bytes };
}

static void one_of_4096(void)
{
    struct wire wire;
    bool good;
    begin(64, false);
    wire_open(&wire, &fixture, protocol, false);
    protocol->verifier.audit.verdicts = VERDICT_AUDIT_INTERVAL - 3;
    (void)wire_order(&wire, &fixture.session, false);
    (void)wire_order(&wire, &fixture.session, true);
    CHECK(ring_ready(&audits) == 0);
    (void)wire_order(&wire, &fixture.session, true); /* the 4,096th */
    (void)wire_order(&wire, &fixture.session, true);
    struct ed25519_job job = next_job(&good);
    CHECK(good && ed25519_verify(&job, 1) == 1 && job.message_bytes == 72);
    CHECK(memcmp(job.key, fixture.session.key, 32) == 0 && ring_ready(&audits) == 0);
    protocol->verifier.audit.verdicts = 2 * VERDICT_AUDIT_INTERVAL - 1;
    (void)wire_order(&wire, &fixture.stranger, false); /* by the slow way as well */
    job = next_job(&good);
    CHECK(!good && ed25519_verify(&job, 1) == 0);
    CHECK(memcmp(job.key, fixture.stranger.key, 32) == 0);
    CHECK(protocol->verifier.audit.verdicts == 2 * VERDICT_AUDIT_INTERVAL &&
          protocol->context.metrics.counters.shadows_skipped == 0);
    wire_free(&wire);
    end();
}

/* Each refusal takes 2 slots (8 + 96 + 72 bytes of 256): 32 of them fill the ring, the next is
 * counted and nothing waits for it. */
static void every_refusal(void)
{
    struct wire wire;
    bool good;
    begin(64, true);
    wire_open(&wire, &fixture, protocol, false);
    (void)wire_order(&wire, &fixture.session, true);
    CHECK(ring_ready(&audits) == 0);
    for (unsigned i = 0; i < 33; i++)
        (void)wire_order(&wire, &fixture.session, false);
    CHECK(protocol->context.metrics.counters.shadows_skipped == 1);
    for (unsigned i = 0; i < 32; i++) {
        struct ed25519_job job = next_job(&good);
        CHECK(!good && ed25519_verify(&job, 1) == 0);
    }
    CHECK(ring_ready(&audits) == 0);
    wire_free(&wire);
    end();
}

int main(void)
{
    one_of_4096();
    every_refusal();
    return 0;
}
