#include "repl/etcd_channel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "repl/etcd_message.h"

enum {
    READ_BYTES = 8192,
    READS_MAX = 512, /* of one turn: the rest waits for the next */
    OUT_BYTES = 65536,
    PING_MS = 6000, /* etcd ends connections that ask more often than each 5 s */
    PAUSE_MS = 10,
    LASTING_MS = 1000
};

static const uint64_t NS_PER_MS = 1000 * 1000;

uint64_t etcd_channel_now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void set_interest(struct etcd_channel *channel)
{
    bool writes = channel->link.wants_write || channel->out_sent < channel->out_count;
    uint32_t wanted = EPOLLIN | (writes ? (uint32_t)EPOLLOUT : 0);
    if (channel->h2 == NULL || wanted == channel->interest)
        return;
    struct epoll_event event = { .events = wanted };
    int verb = channel->interest == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
    if (epoll_ctl(channel->epoll, verb, channel->link.file, &event) == 0)
        channel->interest = wanted;
}

/* Ends the connection; what is in flight goes to the next endpoint. */
void etcd_channel_fail(struct etcd_channel *channel, const char *why)
{
    (void)snprintf(channel->why, sizeof channel->why, "%s: %s",
                   channel->endpoints[channel->endpoint].name, why);
    h2_destroy(channel->h2);
    channel->h2 = NULL;
    link_close(&channel->link);
    channel->interest = 0;
    channel->out_count = channel->out_sent = 0;
    channel->has_unread = false;
    channel->ping_ns = 0;
    for (uint32_t i = 0; i < H2_CALLS_MAX; i++)
        channel->slots[i].is_sent = false;
    channel->endpoint = (channel->endpoint + 1) % channel->endpoint_count;
    /* One that lasted does not count; one that answered for a moment may do so for ever. */
    if (etcd_channel_now() >= channel->opened_ns + LASTING_MS * NS_PER_MS)
        channel->failures = 0;
    uint32_t rounds = channel->failures++ / channel->endpoint_count;
    uint64_t pause = rounds == 0 ? 0 : (uint64_t)PAUSE_MS << (rounds < 6 ? rounds - 1 : 5);
    if (pause > ETCD_REAL_PAUSE_MS)
        pause = ETCD_REAL_PAUSE_MS;
    channel->retry_ns = etcd_channel_now() + pause * NS_PER_MS;
}

static void open_connection(struct etcd_channel *channel, uint64_t now)
{
    const struct link_endpoint *endpoint = &channel->endpoints[channel->endpoint];
    channel->opened_ns = channel->heard_ns = now;
    channel->h2 = h2_create(endpoint->name, channel->tls != NULL);
    if (channel->h2 == NULL) {
        etcd_channel_fail(channel, "no memory");
        return;
    }
    if (link_open(&channel->link, endpoint, channel->tls) != 0) {
        etcd_channel_fail(channel, channel->link.why);
        return;
    }
    channel->connections++;
    set_interest(channel);
}

/* The request of a watch says from where on: it is made again for each connection. */
static bool pack_watch(struct etcd_slot *slot)
{
    const struct etcd_request request = { .kind = ETCD_WATCH,
                                          .key = slot->key_bytes,
                                          .end = slot->end_bytes,
                                          .revision = slot->next_revision };
    size_t room = H2_PREFIX_BYTES + etcd_message_room(&request);
    uint8_t *bytes = realloc(slot->room, room);
    if (bytes == NULL)
        return false;
    slot->room = bytes;
    slot->request_bytes = etcd_message_pack(&request, bytes, room);
    slot->request = bytes + room - slot->request_bytes - H2_PREFIX_BYTES;
    h2_prefix(bytes + room - slot->request_bytes - H2_PREFIX_BYTES, slot->request_bytes);
    slot->request_bytes += H2_PREFIX_BYTES;
    return true;
}

static bool start_call(struct etcd_channel *channel, struct etcd_slot *slot, uint64_t now)
{
    if (slot->kind == ETCD_WATCH && !pack_watch(slot))
        return false;
    slot->is_standing = false;
    uint32_t index = (uint32_t)(slot - channel->slots);
    if (h2_start(channel->h2, index, etcd_message_path(slot->kind), slot->request,
                 slot->request_bytes, slot->kind == ETCD_WATCH) != 0)
        return false;
    slot->is_sent = true;
    slot->sent_ns = now;
    if (slot->sends++ > 0)
        channel->resent++;
    return true;
}

/* Starts what is not on this connection, in the order in which it was asked. */
static bool start_calls(struct etcd_channel *channel, uint64_t now)
{
    for (;;) {
        struct etcd_slot *first = NULL;
        for (uint32_t i = 0; i < H2_CALLS_MAX; i++) {
            struct etcd_slot *slot = &channel->slots[i];
            bool is_waiting =
                slot->is_used && !slot->is_sent && !slot->is_delivered && slot->message == NULL;
            if (is_waiting && (first == NULL || slot->order < first->order))
                first = slot;
        }
        if (first == NULL)
            return true;
        if (!start_call(channel, first, now))
            return false;
    }
}

/* Takes bytes of h2 until there are enough for a write. 0 or -EPROTO. */
static int fill_out(struct etcd_channel *channel)
{
    if (channel->out_sent == channel->out_count)
        channel->out_sent = channel->out_count = 0;
    while (channel->out_count < OUT_BYTES) {
        const uint8_t *bytes = NULL;
        int64_t count = h2_output(channel->h2, &bytes);
        if (count <= 0)
            return (int)count;
        if (channel->out_count + (size_t)count > channel->out_room) {
            size_t room = channel->out_count + (size_t)count + OUT_BYTES;
            uint8_t *out = realloc(channel->out, room);
            if (out == NULL)
                return -EPROTO;
            channel->out = out;
            channel->out_room = room;
        }
        memcpy(channel->out + channel->out_count, bytes, (size_t)count);
        channel->out_count += (size_t)count;
    }
    return 0;
}

static void flush(struct etcd_channel *channel)
{
    while (channel->h2 != NULL && channel->link.is_ready) {
        if (channel->out_sent == channel->out_count && fill_out(channel) != 0) {
            etcd_channel_fail(channel, "no HTTP/2");
            return;
        }
        if (channel->out_sent == channel->out_count)
            break;
        int64_t sent = link_write(&channel->link, channel->out + channel->out_sent,
                                  channel->out_count - channel->out_sent);
        if (sent < 0) {
            etcd_channel_fail(channel, channel->link.why);
            return;
        }
        if (sent == 0)
            break;
        channel->out_sent += (size_t)sent;
    }
    set_interest(channel);
}

static void receive(struct etcd_channel *channel, uint64_t now)
{
    uint8_t bytes[READ_BYTES];
    channel->has_unread = false;
    for (int i = 0; i < READS_MAX; i++) {
        int64_t count = link_read(&channel->link, bytes, sizeof bytes);
        if (count == 0)
            return;
        if (count < 0) {
            etcd_channel_fail(channel, channel->link.why);
            return;
        }
        channel->heard_ns = now;
        channel->ping_ns = 0;
        if (h2_receive(channel->h2, bytes, (size_t)count) != 0) {
            etcd_channel_fail(channel, "no HTTP/2");
            return;
        }
    }
    channel->has_unread = true;
}

/* The two that take as long as they take are not sent again for that. */
static bool has_deadline(const struct etcd_slot *slot)
{
    return slot->kind != ETCD_COMPACT && slot->kind != ETCD_DEFRAGMENT && slot->is_used &&
           slot->is_sent && !slot->is_delivered && !slot->is_standing && slot->message == NULL;
}

static bool has_request(const struct etcd_channel *channel)
{
    for (uint32_t i = 0; i < H2_CALLS_MAX; i++)
        if (channel->slots[i].is_used && !channel->slots[i].is_delivered)
            return true;
    return false;
}

/* Deadlines of the connection and of requests. */
static void check_deadlines(struct etcd_channel *channel, uint64_t now)
{
    if (!channel->link.is_ready) {
        if (now >= channel->opened_ns + channel->request_ns)
            etcd_channel_fail(channel, "no connection in time");
        return;
    }
    for (uint32_t i = 0; i < H2_CALLS_MAX; i++) {
        const struct etcd_slot *slot = &channel->slots[i];
        if (has_deadline(slot) && now >= slot->sent_ns + channel->request_ns) {
            etcd_channel_fail(channel, "no answer in time");
            return;
        }
    }
    if (channel->ping_ns != 0 && now >= channel->ping_ns + channel->request_ns)
        etcd_channel_fail(channel, "no sign of life");
    else if (channel->ping_ns == 0 && now >= channel->heard_ns + PING_MS * NS_PER_MS &&
             has_request(channel) && h2_ping(channel->h2) == 0)
        channel->ping_ns = now;
}

/* Connects, carries on, sends and receives as far as nothing blocks. */
void etcd_channel_turn(struct etcd_channel *channel)
{
    uint64_t now = etcd_channel_now();
    if (channel->h2 == NULL && now >= channel->retry_ns && has_request(channel))
        open_connection(channel, now);
    if (channel->h2 != NULL && !channel->link.is_ready) {
        if (link_step(&channel->link) != 0)
            etcd_channel_fail(channel, channel->link.why);
        else
            set_interest(channel);
    }
    if (channel->h2 == NULL || !channel->link.is_ready) {
        if (channel->h2 != NULL)
            check_deadlines(channel, now);
        return;
    }
    if (!start_calls(channel, now)) {
        etcd_channel_fail(channel, "no HTTP/2");
        return;
    }
    flush(channel);
    if (channel->h2 != NULL)
        receive(channel, now);
    if (channel->h2 != NULL && h2_is_leaving(channel->h2))
        etcd_channel_fail(channel, "the endpoint is leaving");
    if (channel->h2 != NULL)
        check_deadlines(channel, now);
}

void etcd_channel_send(struct etcd_channel *channel)
{
    if (channel->h2 == NULL || !channel->link.is_ready)
        return;
    if (start_calls(channel, etcd_channel_now()))
        flush(channel);
    else
        etcd_channel_fail(channel, "no HTTP/2");
}

bool etcd_channel_is_sent(const struct etcd_channel *channel, const struct etcd_slot *slot)
{
    return channel->h2 != NULL && slot->is_sent;
}

void etcd_channel_free(struct etcd_channel *channel, struct etcd_slot *slot)
{
    if (etcd_channel_is_sent(channel, slot))
        h2_drop(channel->h2, (uint32_t)(slot - channel->slots));
    free(slot->room);
    free(slot->message);
    *slot = (struct etcd_slot){ 0 };
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t etcd_channel_due(const struct etcd_channel *channel)
{
    if (channel->has_unread)
        return 0;
    uint64_t due = UINT64_MAX;
    bool waits = false;
    for (uint32_t i = 0; i < H2_CALLS_MAX; i++) {
        const struct etcd_slot *slot = &channel->slots[i];
        if (!slot->is_used || slot->is_delivered)
            continue;
        waits = true;
        if (has_deadline(slot))
            due = earlier(due, slot->sent_ns + channel->request_ns);
        if (slot->late_ns != 0 && !slot->is_standing)
            due = earlier(due, slot->late_ns);
    }
    if (!waits)
        return due;
    if (channel->h2 == NULL)
        return earlier(due, channel->retry_ns);
    if (!channel->link.is_ready)
        return earlier(due, channel->opened_ns + channel->request_ns);
    uint64_t alive = channel->ping_ns != 0 ? channel->ping_ns + channel->request_ns
                                           : channel->heard_ns + PING_MS * NS_PER_MS;
    return earlier(due, alive);
}

static bool is_set(const char *text)
{
    return text != NULL && text[0] != 0;
}

/* 0, or -errno and a sentence: what is configured cannot be used. */
static int check_config(const struct etcd_real_config *config, char why[ETCD_TEXT_BYTES])
{
    uint32_t count = config->endpoint_count;
    bool has_any = is_set(config->ca) || is_set(config->certificate) || is_set(config->key);
    bool has_all = is_set(config->ca) && is_set(config->certificate) && is_set(config->key);
    if (count == 0 || count > ETCD_REAL_ENDPOINTS_MAX) {
        (void)snprintf(why, ETCD_TEXT_BYTES, "%u addresses of etcd: 1 to %d are needed", count,
                       ETCD_REAL_ENDPOINTS_MAX);
        return -EINVAL;
    }
    if (has_any && !has_all) {
        (void)snprintf(why, ETCD_TEXT_BYTES, "authority, certificate and key come together");
        return -EINVAL;
    }
    for (uint32_t i = 0; i < count && !has_all; i++)
        if (!link_is_loopback(&config->endpoints[i])) {
            (void)snprintf(why, ETCD_TEXT_BYTES, "%s is not of this machine: it needs certificates",
                           config->endpoints[i].name);
            return -EACCES;
        }
    return 0;
}

int etcd_channel_open(struct etcd_channel *channel, const struct etcd_real_config *config,
                      char why[ETCD_TEXT_BYTES])
{
    channel->link.file = channel->epoll = -1;
    int error = check_config(config, why);
    if (error != 0)
        return error;
    channel->endpoint_count = config->endpoint_count;
    memcpy(channel->endpoints, config->endpoints,
           config->endpoint_count * sizeof config->endpoints[0]);
    channel->request_ns = config->request_ms * NS_PER_MS;
    channel->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (channel->epoll < 0) {
        (void)snprintf(why, ETCD_TEXT_BYTES, "no epoll");
        return -ENOMEM;
    }
    if (!is_set(config->ca))
        return 0;
    return link_tls_create(&channel->tls, config->ca, config->certificate, config->key, why);
}

void etcd_channel_close(struct etcd_channel *channel)
{
    for (uint32_t i = 0; i < H2_CALLS_MAX; i++)
        etcd_channel_free(channel, &channel->slots[i]);
    h2_destroy(channel->h2);
    link_close(&channel->link);
    link_tls_destroy(channel->tls);
    if (channel->epoll >= 0)
        (void)close(channel->epoll);
    free(channel->out);
}
