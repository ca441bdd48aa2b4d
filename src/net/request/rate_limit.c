#include "net/request/rate_limit.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>

#define SECOND_NS UINT64_C(1000000000)
#define MS_NS     UINT64_C(1000000)

enum { SET_ADDRESSES = 8, SETS = RATE_LIMIT_ADDRESSES / SET_ADDRESSES };

/* All zeros: any address with full buckets. */
struct debtor {
    uint64_t address;
    uint64_t full_ns[RATE_LIMIT_KINDS]; /* when the bucket is full again */
};

struct rate_limit {
    uint64_t interval_ns[RATE_LIMIT_KINDS]; /* the cost of one; 0: no limit */
    struct mix_key hash_key;
    struct debtor debtors[SETS][SET_ADDRESSES];
};

int rate_limit_create(struct rate_limit **limits, const uint32_t rates[RATE_LIMIT_KINDS],
                      uint32_t threads, struct mix_key hash_key)
{
    struct rate_limit *made = calloc(1, sizeof *made);
    *limits = made;
    if (made == NULL)
        return -ENOMEM;
    made->hash_key = hash_key;
    for (unsigned kind = 0; kind < RATE_LIMIT_KINDS; kind++)
        if (rates[kind] != 0)
            made->interval_ns[kind] = SECOND_NS * (threads > 1 ? threads : 1) / rates[kind];
    return 0;
}

void rate_limit_destroy(struct rate_limit *limits)
{
    free(limits);
}

static uint32_t set_of(const struct rate_limit *limits, uint64_t address)
{
    return (uint32_t)(mix_word(limits->hash_key, address) % SETS);
}

/* When the bucket of the address is full again. */
static uint64_t full_at(const struct rate_limit *limits, uint64_t address,
                        enum rate_limit_kind kind)
{
    const struct debtor *set = limits->debtors[set_of(limits, address)];
    for (unsigned i = 0; i < SET_ADDRESSES; i++)
        if (set[i].address == address)
            return set[i].full_ns[kind];
    return 0;
}

uint64_t rate_limit_wait_ms(const struct rate_limit *limits, uint64_t address,
                            enum rate_limit_kind kind, uint64_t now_ns)
{
    uint64_t interval = limits->interval_ns[kind];
    if (interval == 0)
        return 0;
    uint64_t full = full_at(limits, address, kind);
    /* After this one the bucket may be at most a second from full. A full bucket always has one. */
    uint64_t most = now_ns + (interval < SECOND_NS ? SECOND_NS - interval : 0);
    return full <= most ? 0 : (full - most + MS_NS - 1) / MS_NS;
}

static uint64_t latest(const struct debtor *debtor)
{
    uint64_t latest = 0;
    for (unsigned kind = 0; kind < RATE_LIMIT_KINDS; kind++)
        if (debtor->full_ns[kind] > latest)
            latest = debtor->full_ns[kind];
    return latest;
}

/* The slot of the address; it replaces the address whose buckets are full first. */
static struct debtor *debtor_of(struct rate_limit *limits, uint64_t address)
{
    struct debtor *set = limits->debtors[set_of(limits, address)];
    struct debtor *least = &set[0];
    for (unsigned i = 0; i < SET_ADDRESSES; i++) {
        if (set[i].address == address)
            return &set[i];
        if (latest(&set[i]) < latest(least))
            least = &set[i];
    }
    *least = (struct debtor){ .address = address };
    return least;
}

void rate_limit_charge(struct rate_limit *limits, uint64_t address, enum rate_limit_kind kind,
                       uint64_t now_ns)
{
    uint64_t interval = limits->interval_ns[kind];
    if (interval == 0)
        return;
    uint64_t *full_ns = &debtor_of(limits, address)->full_ns[kind];
    uint64_t from = *full_ns > now_ns ? *full_ns : now_ns;
    /* An overdraft does not lengthen the wait beyond that second. */
    if (from <= now_ns + SECOND_NS)
        *full_ns = from + interval;
}

/* IPv4 addresses among the prefixes of IPv6: ::ffff:0:0/96, which is nobody's prefix. */
static uint64_t of_ipv4(uint32_t address)
{
    return UINT64_C(0xffff) << 32 | ntohl(address);
}

uint64_t rate_limit_address(const struct peer *peer)
{
    if (peer_is_ipv4(peer))
        return of_ipv4(cc_load32(peer->bytes + PEER_BYTES - PEER_IPV4_BYTES));
    return be64toh(cc_load64(peer->bytes));
}
