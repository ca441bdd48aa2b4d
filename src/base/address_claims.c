#include "base/address_claims.h"

#include <errno.h>

#include "base/region.h"

enum { BUCKET = 32, ROWS_EACH = 4 };

#define COUNT_MASK UINT64_C(0xFFFFFFFF)
#define VERSION    (COUNT_MASK + 1)
#define TAKEN      COUNT_MASK /* the count of a row whose address is being written */

struct address_claim_row {
    _Atomic uint64_t word; /* the count of its claims; above it how often another address took it */
    _Atomic uint64_t address; /* of a row with a count */
};

static size_t slots_bytes(const struct address_claims *claims)
{
    return claims->slot_count * sizeof *claims->slots;
}

static size_t rows_bytes(const struct address_claims *claims)
{
    return (claims->bucket_mask + (size_t)1) * BUCKET * sizeof *claims->rows;
}

int address_claims_init(struct address_claims *claims, uint32_t slot_count, struct mix_key hash_key)
{
    uint32_t buckets = 1;
    while (buckets * BUCKET < ROWS_EACH * slot_count)
        buckets *= 2;
    *claims = (struct address_claims){
        .slot_count = slot_count,
        .bucket_mask = buckets - 1,
        .hash_key = hash_key,
    };
    claims->slots = region_map(REGION_connections, slots_bytes(claims));
    claims->rows = region_map(REGION_connections, rows_bytes(claims));
    if (claims->slots != NULL && claims->rows != NULL)
        return 0;
    address_claims_free(claims);
    return -ENOMEM;
}

void address_claims_free(struct address_claims *claims)
{
    region_unmap(claims->slots, slots_bytes(claims));
    region_unmap(claims->rows, rows_bytes(claims));
    claims->slots = NULL;
    claims->rows = NULL;
}

static struct address_claim_row *bucket_of(const struct address_claims *claims, uint64_t address)
{
    uint64_t hash = mix_word(claims->hash_key, address);
    return &claims->rows[(hash & claims->bucket_mask) * BUCKET];
}

/* The claims of the address in a row. *word becomes what the row held. */
static uint32_t count_in(const struct address_claim_row *row, uint64_t address, uint64_t *word)
{
    *word = atomic_load(&row->word); /* pairs: address_claims_add */
    uint64_t count = *word & COUNT_MASK;
    /* acquire, pairs: add_to_free. With an address of a later time the version is one, too. */
    if (count == 0 || count == TAKEN ||
        atomic_load_explicit(&row->address, memory_order_acquire) != address ||
        (atomic_load(&row->word) ^ *word) >= VERSION)
        return 0;
    return (uint32_t)count;
}

static uint32_t count_of(const struct address_claims *claims, uint64_t address)
{
    const struct address_claim_row *rows = bucket_of(claims, address);
    uint32_t count = 0;
    uint64_t word;
    for (uint32_t i = 0; i < BUCKET; i++)
        count += count_in(&rows[i], address, &word);
    return count;
}

/* One claim more in a row that the address has. NULL: it has none. */
static struct address_claim_row *add_to_own(struct address_claim_row *rows, uint64_t address)
{
    for (uint32_t i = 0; i < BUCKET; i++) {
        uint64_t word;
        while (count_in(&rows[i], address, &word) > 0)
            if (atomic_compare_exchange_strong(&rows[i].word, &word, word + 1))
                return &rows[i];
    }
    return NULL;
}

/* A row for the first claim of the address. Two threads may take one each: both count. NULL: all
 * are other addresses'. */
static struct address_claim_row *add_to_free(struct address_claim_row *rows, uint64_t address)
{
    for (uint32_t i = 0; i < BUCKET; i++) {
        uint64_t word = atomic_load(&rows[i].word);
        if ((word & COUNT_MASK) != 0 ||
            !atomic_compare_exchange_strong(&rows[i].word, &word, word + VERSION + TAKEN))
            continue;
        /* release, pairs: count_in. This count sees who counts while the row is in use. */
        atomic_store_explicit(&rows[i].address, address, memory_order_release);
        atomic_store(&rows[i].word, word + VERSION + 1);
        return &rows[i];
    }
    return NULL;
}

uint32_t address_claims_add(struct address_claims *claims, uint32_t slot, uint64_t address,
                            uint32_t most)
{
    INVARIANT(slot < claims->slot_count && claims->slots[slot] == 0);
    struct address_claim_row *rows = bucket_of(claims, address);
    struct address_claim_row *row = add_to_own(rows, address);
    if (row == NULL)
        row = add_to_free(rows, address);
    if (row == NULL)
        return 0;
    claims->slots[slot] = 1 + (uint32_t)(row - claims->rows);
    /* In one order with the changes of all words: of two threads one sees the other's claim. */
    uint32_t count = count_of(claims, address);
    if (count <= most)
        return count;
    address_claims_drop(claims, slot);
    return 0;
}

void address_claims_drop(struct address_claims *claims, uint32_t slot)
{
    INVARIANT(slot < claims->slot_count && claims->slots[slot] > 0);
    struct address_claim_row *row = &claims->rows[claims->slots[slot] - 1];
    claims->slots[slot] = 0;
    uint64_t before = atomic_fetch_sub(&row->word, 1);
    INVARIANT((before & COUNT_MASK) > 0 && (before & COUNT_MASK) != TAKEN);
}
