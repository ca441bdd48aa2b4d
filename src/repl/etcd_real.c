#include "repl/etcd_real.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "repl/etcd_channel.h"
#include "repl/etcd_message.h"
#include "repl/etcd_refusal.h"

enum { ANSWERS_MAX = H2_CALLS_MAX - ETCD_REQUESTS_MAX /* of one reap */ };

struct real {
    struct etcd etcd;
    struct etcd_channel channel;
    uint64_t orders;
    bool has_more;
    uint32_t answer_count;
    struct etcd_answer answers[ANSWERS_MAX];
    char texts[ANSWERS_MAX][ETCD_TEXT_BYTES];
};

static struct real *real_of(struct etcd *etcd)
{
    return (struct real *)(void *)etcd;
}

/* What the last reap lent goes. */
static void drop_delivered(struct real *real)
{
    for (uint32_t i = 0; i < H2_CALLS_MAX; i++) {
        struct etcd_slot *slot = &real->channel.slots[i];
        if (slot->is_delivered) {
            etcd_channel_free(&real->channel, slot);
        } else if (slot->message != NULL && slot->from == slot->message->count) {
            free(slot->message);
            slot->message = NULL;
        }
    }
    real->answer_count = 0;
}

/* One more answer to lend; its text is `text`. */
static struct etcd_answer *answer(struct real *real, struct etcd_done *done,
                                  const struct etcd_slot *slot, enum etcd_result result,
                                  const char *text)
{
    uint32_t index = real->answer_count++;
    struct etcd_answer *one = &real->answers[index];
    (void)snprintf(real->texts[index], ETCD_TEXT_BYTES, "%s", text);
    etcd_message_begin(one);
    *done = (struct etcd_done){ .tag = slot->tag,
                                .kind = slot->kind,
                                .result = result,
                                .is_resent = slot->sends > 1,
                                .text = real->texts[index] };
    return one;
}

static void lend(struct etcd_done *done, const struct etcd_answer *one)
{
    done->succeeded = one->succeeded;
    done->more = one->more;
    done->revision = one->revision;
    done->compact_revision = one->compact_revision;
    done->lease = one->lease;
    done->ttl_s = one->ttl_s;
    done->rows = one->rows;
    done->row_count = one->row_count;
    done->members = one->members;
    done->member_count = one->member_count;
    done->status = &one->status;
}

/* The end of a request: its whole answer, or a refusal. False: nothing yet, or it goes to the next
 * endpoint. */
static bool end_of(struct real *real, struct etcd_slot *slot, struct etcd_done *done)
{
    uint32_t index = (uint32_t)(slot - real->channel.slots);
    int status = 0;
    const char *text = NULL;
    if (!h2_is_ended(real->channel.h2, index, &status, &text))
        return false;
    enum etcd_result result = ETCD_OK;
    if (status != H2_OK && !etcd_refusal_is_final(status, text, &result)) {
        etcd_channel_fail(&real->channel, text);
        return false;
    }
    struct etcd_answer *one = answer(real, done, slot, result, result == ETCD_OK ? "" : text);
    if (result == ETCD_OK) {
        slot->message = h2_pop(real->channel.h2, index);
        struct etcd_bytes bytes = { 0 };
        if (slot->message != NULL)
            bytes = (struct etcd_bytes){ slot->message->bytes, slot->message->count };
        if (slot->message == NULL || !etcd_message_read(slot->kind, bytes, &slot->from, one)) {
            free(slot->message);
            slot->message = NULL;
            real->answer_count--;
            etcd_channel_fail(&real->channel, "its answer is none");
            return false;
        }
        lend(done, one);
        if (slot->kind == ETCD_LEASE_KEEP && one->ttl_s <= 0)
            done->result = ETCD_NO_LEASE;
        else if (slot->kind == ETCD_LEASE_GRANT && (one->text[0] != 0 || one->lease == 0))
            done->result = ETCD_REFUSED;
        if (done->result != ETCD_OK)
            done->text = one->text[0] != 0 ? one->text : "the lease has ended";
    }
    slot->is_delivered = true;
    return true;
}

/* A watch that etcd ended: for good, or to begin again elsewhere. */
static bool end_watch(struct real *real, struct etcd_slot *slot, struct etcd_done *done,
                      const struct etcd_answer *one)
{
    bool is_denied = strstr(one->text, "permission denied") != NULL;
    if (one->compact_revision == 0 && !is_denied) {
        real->answer_count--;
        free(slot->message);
        slot->message = NULL;
        etcd_channel_fail(&real->channel, one->text[0] != 0 ? one->text : "the watch was ended");
        return false;
    }
    done->result = is_denied ? ETCD_DENIED : ETCD_COMPACTED;
    done->compact_revision = one->compact_revision;
    done->text = one->text;
    slot->is_delivered = true;
    return true;
}

/* The next part of a watch. False: none yet. */
static bool part_of(struct real *real, struct etcd_slot *slot, struct etcd_done *done)
{
    uint32_t index = (uint32_t)(slot - real->channel.slots);
    if (slot->message == NULL && etcd_channel_is_sent(&real->channel, slot)) {
        slot->message = h2_pop(real->channel.h2, index);
        slot->from = 0;
    }
    if (slot->message == NULL)
        return etcd_channel_is_sent(&real->channel, slot) && end_of(real, slot, done);
    struct etcd_answer *one = answer(real, done, slot, ETCD_OK, "");
    struct etcd_bytes bytes = { slot->message->bytes, slot->message->count };
    if (!etcd_message_read(ETCD_WATCH, bytes, &slot->from, one) ||
        (one->row_count == 0 && slot->from == bytes.count && !one->is_created &&
         !one->is_cancelled && one->revision == 0)) {
        real->answer_count--;
        free(slot->message);
        slot->message = NULL;
        etcd_channel_fail(&real->channel, "its answer is none");
        return false;
    }
    lend(done, one);
    done->more = slot->from < bytes.count || one->is_fragment;
    if (one->is_cancelled)
        return end_watch(real, slot, done, one);
    slot->is_standing = true;
    if (one->row_count > 0 && !done->more)
        slot->next_revision = one->rows[one->row_count - 1].mod_revision + 1;
    else if (one->row_count == 0 && slot->next_revision == 0)
        slot->next_revision = one->revision + 1;
    return true;
}

static bool is_late(struct etcd_slot *slot, uint64_t now)
{
    return slot->late_ns != 0 && now >= slot->late_ns && !slot->is_standing &&
           slot->message == NULL;
}

static bool collect(struct real *real, struct etcd_slot *slot, uint64_t now, struct etcd_done *done)
{
    if (!slot->is_used || slot->is_delivered)
        return false;
    if (slot->kind == ETCD_WATCH
            ? part_of(real, slot, done)
            : etcd_channel_is_sent(&real->channel, slot) && end_of(real, slot, done))
        return true;
    if (!is_late(slot, now))
        return false;
    lend(done, answer(real, done, slot, ETCD_LATE, "no answer in time"));
    slot->is_delivered = true;
    return true;
}

static int real_reap(struct etcd *etcd, struct etcd_done *done, int done_max)
{
    struct real *real = real_of(etcd);
    drop_delivered(real);
    etcd_channel_turn(&real->channel);
    uint64_t now = etcd_channel_now();
    int limit = done_max < ANSWERS_MAX ? done_max : ANSWERS_MAX;
    int count = 0;
    for (uint32_t i = 0; i < H2_CALLS_MAX && count < limit; i++)
        count += collect(real, &real->channel.slots[i], now, &done[count]);
    real->has_more = count == limit;
    /* A message that was taken opens its window, one that ended is made again. */
    etcd_channel_send(&real->channel);
    return count;
}

/* Copies key and end of a watch, which are packed again for each connection. */
static void keep_watch(struct etcd_slot *slot, const struct etcd_request *request)
{
    memcpy(slot->key, request->key.bytes, request->key.count);
    if (request->end.count > 0)
        memcpy(slot->end, request->end.bytes, request->end.count);
    slot->key_bytes = (struct etcd_bytes){ slot->key, request->key.count };
    slot->end_bytes = (struct etcd_bytes){ slot->end, request->end.count };
    slot->next_revision = request->revision;
}

static int pack(struct etcd_slot *slot, const struct etcd_request *request)
{
    if (request->kind == ETCD_WATCH) {
        keep_watch(slot, request);
        return 0;
    }
    size_t room = H2_PREFIX_BYTES + etcd_message_room(request);
    slot->room = malloc(room);
    if (slot->room == NULL)
        return -ENOMEM;
    size_t count = etcd_message_pack(request, slot->room, room);
    uint8_t *first = slot->room + room - count - H2_PREFIX_BYTES;
    h2_prefix(first, count);
    slot->request = first;
    slot->request_bytes = H2_PREFIX_BYTES + count;
    if (count <= ETCD_REQUEST_BYTES)
        return 0;
    free(slot->room);
    return -EMSGSIZE;
}

static int real_submit(struct etcd *etcd, const struct etcd_request *request, uint64_t tag)
{
    struct real *real = real_of(etcd);
    INVARIANT(request->key.count <= ETCD_KEY_BYTES && request->end.count <= ETCD_KEY_BYTES);
    struct etcd_slot *slot = NULL;
    uint32_t watches = 0, requests = 0;
    for (uint32_t i = H2_CALLS_MAX; i-- > 0;) {
        const struct etcd_slot *one = &real->channel.slots[i];
        if (!one->is_used)
            slot = &real->channel.slots[i];
        else if (!one->is_delivered) {
            requests++;
            watches += one->kind == ETCD_WATCH;
        }
    }
    if (slot == NULL || requests == ETCD_REQUESTS_MAX ||
        (request->kind == ETCD_WATCH && watches == ETCD_WATCHES_MAX))
        return -EAGAIN;
    *slot = (struct etcd_slot){ .kind = request->kind, .tag = tag, .order = real->orders++ };
    int error = pack(slot, request);
    if (error != 0) {
        *slot = (struct etcd_slot){ 0 };
        return error;
    }
    uint64_t now = etcd_channel_now();
    slot->is_used = true;
    slot->late_ns = request->life_ns == 0 ? 0 : now + request->life_ns;
    etcd_channel_send(&real->channel);
    return 0;
}

static bool real_cancel(struct etcd *etcd, uint64_t tag)
{
    struct real *real = real_of(etcd);
    for (uint32_t i = 0; i < H2_CALLS_MAX; i++) {
        struct etcd_slot *slot = &real->channel.slots[i];
        if (slot->is_used && !slot->is_delivered && slot->tag == tag) {
            etcd_channel_free(&real->channel, slot);
            etcd_channel_send(&real->channel);
            return true;
        }
    }
    return false;
}

static uint64_t real_due(struct etcd *etcd)
{
    const struct real *real = real_of(etcd);
    return real->has_more ? 0 : etcd_channel_due(&real->channel);
}

static int real_wait(struct etcd *etcd, int wake_file, uint64_t timeout_ns)
{
    struct real *real = real_of(etcd);
    uint64_t due = real_due(etcd);
    uint64_t now = etcd_channel_now();
    uint64_t left = due > now ? due - now : 0;
    if (left > timeout_ns)
        left = timeout_ns;
    struct timespec time = { .tv_sec = (time_t)(left / 1000000000),
                             .tv_nsec = (long)(left % 1000000000) };
    if (left == UINT64_MAX)
        time.tv_sec = INT32_MAX;
    struct pollfd files[] = { { real->channel.epoll, POLLIN, 0 }, { wake_file, POLLIN, 0 } };
    if (ppoll(files, wake_file >= 0 ? 2 : 1, &time, NULL) < 0 && errno != EINTR)
        return -errno;
    return 0;
}

static int real_file(struct etcd *etcd)
{
    return real_of(etcd)->channel.epoll;
}

static void real_health(struct etcd *etcd, struct etcd_health *health)
{
    const struct etcd_channel *channel = &real_of(etcd)->channel;
    bool is_connected = channel->h2 != NULL && channel->link.is_ready;
    *health = (struct etcd_health){ .is_connected = is_connected,
                                    .endpoint = channel->endpoint,
                                    .connections = channel->connections,
                                    .resent = channel->resent,
                                    .text = channel->why };
}

static void real_close(struct etcd *etcd)
{
    struct real *real = real_of(etcd);
    etcd_channel_close(&real->channel);
    free(real);
}

static const struct etcd_ops OPS = {
    .submit = real_submit,
    .cancel = real_cancel,
    .reap = real_reap,
    .wait = real_wait,
    .file = real_file,
    .due = real_due,
    .health = real_health,
    .close = real_close,
};

int etcd_real_create(struct etcd **etcd, const struct etcd_real_config *config,
                     char why[ETCD_TEXT_BYTES])
{
    struct real *real = calloc(1, sizeof *real);
    if (real == NULL) {
        (void)snprintf(why, ETCD_TEXT_BYTES, "no memory");
        return -ENOMEM;
    }
    real->etcd.ops = &OPS;
    int error = etcd_channel_open(&real->channel, config, why);
    if (error != 0) {
        real_close(&real->etcd);
        return error;
    }
    *etcd = &real->etcd;
    return 0;
}

void etcd_real_renew(struct etcd *etcd, struct link_tls *tls)
{
    struct etcd_channel *channel = &real_of(etcd)->channel;

    INVARIANT(channel->tls != NULL);
    link_tls_destroy(channel->tls); /* a session that is open keeps what it has of it */
    channel->tls = tls;
}
