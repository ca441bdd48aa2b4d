/* Some verdicts, one of 4,096 on average, are verified a second time, from the same input; in the
 * mode for it, every refusal too (signatures.md, Verdict audit). */
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

/* How many of `count` verdicts are chosen under a secret; *which depends on which. */
static uint64_t chosen_of(struct mix_key secret, uint64_t count, uint64_t *which)
{
    uint64_t skipped = 0, chosen = 0;
    struct verdict_audit audit = { .ring = &audits, .secret = secret, .skipped = &skipped };
    const struct ed25519_job job = { fixture.session.key, fixture.session.key, NULL, 0, NULL };
    *which = 0;
    for (uint64_t i = 0; i < count; i++) {
        verdict_audit_report(&audit, &job, true, ED25519_COMB);
        if (ring_ready(&audits) == 0)
            continue;
        ring_release(&audits, ring_ready(&audits));
        *which ^= i * UINT64_C(0x9E3779B97F4A7C15);
        chosen++;
    }
    CHECK(skipped == 0);
    return chosen;
}

/* Of 2^22 verdicts 1,024 are expected: 896 to 1,152 is four standard deviations, and the secrets
 * are fixed. Another secret draws others. */
static void drawn_at_random(void)
{
    uint64_t first_bits, second_bits, again_bits;
    begin(64, false);
    uint64_t first = chosen_of((struct mix_key){ 3, 4 }, UINT64_C(1) << 22, &first_bits);
    uint64_t second = chosen_of((struct mix_key){ 3, 5 }, UINT64_C(1) << 22, &second_bits);
    CHECK(first > 896 && first < 1152 && second > 896 && second < 1152);
    CHECK(first_bits != second_bits);
    CHECK(chosen_of((struct mix_key){ 3, 4 }, UINT64_C(1) << 22, &again_bits) == first &&
          again_bits == first_bits);
    struct verdict_audit *audit = &protocol->verifier.audit;
    CHECK(audit->secret.low != 0 || audit->secret.high != 0);
    struct mix_key before = audit->secret;
    verdict_audit_seed(audit);
    CHECK(audit->secret.low != before.low && audit->secret.high != before.high);
    end();
}

/* The number of verdicts before the next chosen one. */
static uint64_t before_next(void)
{
    const struct ed25519_job job = { fixture.session.key, fixture.session.key, NULL, 0, NULL };
    struct verdict_audit probe = protocol->verifier.audit;
    while (ring_ready(&audits) == 0)
        verdict_audit_report(&probe, &job, true, ED25519_COMB);
    ring_release(&audits, ring_ready(&audits));
    return probe.verdicts - 1;
}

/* A chosen verdict is told with what it was made of, on the fast way and on the slow one. */
static void chosen(void)
{
    struct wire wire;
    bool good;
    begin(64, false);
    wire_open(&wire, &fixture, protocol, false);
    uint64_t number = before_next();
    protocol->verifier.audit.verdicts = number - 1;
    (void)wire_order(&wire, &fixture.session, false);
    CHECK(ring_ready(&audits) == 0);
    (void)wire_order(&wire, &fixture.session, true); /* the one */
    (void)wire_order(&wire, &fixture.session, true);
    struct ed25519_job job = next_job(&good);
    CHECK(good && ed25519_verify(&job, 1) == 1 && job.message_bytes == 72);
    CHECK(memcmp(job.key, fixture.session.key, 32) == 0 && ring_ready(&audits) == 0);
    protocol->verifier.audit.verdicts = number;
    (void)wire_order(&wire, &fixture.stranger, false); /* by the slow way as well */
    job = next_job(&good);
    CHECK(!good && ed25519_verify(&job, 1) == 0);
    CHECK(memcmp(job.key, fixture.stranger.key, 32) == 0);
    CHECK(protocol->verifier.audit.verdicts == number + 1 &&
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
    drawn_at_random();
    chosen();
    every_refusal();
    return 0;
}
