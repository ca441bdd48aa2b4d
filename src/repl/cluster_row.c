#include "repl/cluster_row.h"

#include "base/crc32c.h"

enum { VERSION_AT = 8, LENGTH_AT = 10, CRC_AT = 12, BODY_AT = 16 };

static void seal(uint8_t *bytes, size_t count, const char magic[8])
{
    memcpy(bytes, magic, 8);
    cc_store16(bytes + VERSION_AT, CLUSTER_ROW_VERSION);
    cc_store16(bytes + LENGTH_AT, (uint16_t)count);
    cc_store32(bytes + CRC_AT, crc32c(bytes + BODY_AT, count - BODY_AT));
}

static bool is_sealed(struct etcd_bytes value, size_t count, const char magic[8])
{
    const uint8_t *bytes = value.bytes;

    return value.count == count && memcmp(bytes, magic, 8) == 0 &&
           cc_load16(bytes + VERSION_AT) == CLUSTER_ROW_VERSION &&
           cc_load16(bytes + LENGTH_AT) == count &&
           cc_load32(bytes + CRC_AT) == crc32c(bytes + BODY_AT, count - BODY_AT);
}

/* A text of printable bytes, then zeros up to `field`. `out` has one byte more if `is_full`. */
static bool read_text(char *out, const uint8_t *bytes, size_t field, bool is_full)
{
    size_t count = 0;

    while (count < field && bytes[count] > ' ' && bytes[count] < 127)
        count++;
    if ((count == field && !is_full) || !cc_is_zero(bytes + count, field - count))
        return false;
    memcpy(out, bytes, count);
    out[count] = '\0';
    return true;
}

static void write_text(uint8_t *out, const char *text, size_t field)
{
    size_t count = strlen(text);

    INVARIANT(count <= field);
    memcpy(out, text, count);
}

/* ---- identity -------------------------------------------------------------------------------- */

static const char identity_magic[8] = { 'p', 'e', 'r', 'p', 'd', 'C', 'L', 'U' };

void cluster_row_identity_encode(uint8_t out[CLUSTER_IDENTITY_BYTES],
                                 const struct cluster_identity *identity)
{
    memset(out, 0, CLUSTER_IDENTITY_BYTES);
    memcpy(out + 16, identity->journal_id, sizeof identity->journal_id);
    memcpy(out + 32, identity->exchange_id, sizeof identity->exchange_id);
    memcpy(out + 64, identity->key_hash, sizeof identity->key_hash);
    seal(out, CLUSTER_IDENTITY_BYTES, identity_magic);
}

bool cluster_row_identity_decode(struct cluster_identity *out, struct etcd_bytes value)
{
    const uint8_t *bytes = value.bytes;

    if (!is_sealed(value, CLUSTER_IDENTITY_BYTES, identity_magic))
        return false;
    memcpy(out->journal_id, bytes + 16, sizeof out->journal_id);
    memcpy(out->exchange_id, bytes + 32, sizeof out->exchange_id);
    memcpy(out->key_hash, bytes + 64, sizeof out->key_hash);
    return true;
}

/* ---- leader ---------------------------------------------------------------------------------- */

static const char leader_magic[8] = { 'p', 'e', 'r', 'p', 'd', 'L', 'D', 'R' };

void cluster_row_leader_encode(uint8_t out[CLUSTER_LEADER_BYTES],
                               const struct cluster_leader *leader)
{
    memset(out, 0, CLUSTER_LEADER_BYTES);
    cc_store64(out + 16, leader->term);
    write_text(out + 24, leader->node, CLUSTER_LABEL_BYTES);
    cc_store32(out + 40, leader->rules_version);
    cc_store64(out + 48, leader->began_ns);
    write_text(out + 56, leader->public_address, CLUSTER_PLACE_BYTES - 1);
    write_text(out + 120, leader->admin_address, CLUSTER_PLACE_BYTES - 1);
    seal(out, CLUSTER_LEADER_BYTES, leader_magic);
}

bool cluster_row_leader_decode(struct cluster_leader *out, struct etcd_bytes value)
{
    const uint8_t *bytes = value.bytes;

    if (!is_sealed(value, CLUSTER_LEADER_BYTES, leader_magic) || !cc_is_zero(bytes + 44, 4) ||
        !cc_is_zero(bytes + 184, 8))
        return false;
    out->term = cc_load64(bytes + 16);
    out->rules_version = cc_load32(bytes + 40);
    out->began_ns = cc_load64(bytes + 48);
    return read_text(out->node, bytes + 24, CLUSTER_LABEL_BYTES, true) &&
           read_text(out->public_address, bytes + 56, CLUSTER_PLACE_BYTES, false) &&
           read_text(out->admin_address, bytes + 120, CLUSTER_PLACE_BYTES, false);
}

/* ---- node ------------------------------------------------------------------------------------ */

enum { IS_CANDIDATE = 1, IS_JUDGED = 2 }; /* flags */

static const char node_magic[8] = { 'p', 'e', 'r', 'p', 'd', 'N', 'O', 'D' };

void cluster_row_node_encode(uint8_t out[CLUSTER_NODE_ROW_BYTES], const struct cluster_node *node)
{
    memset(out, 0, CLUSTER_NODE_ROW_BYTES);
    write_text(out + 16, node->node, CLUSTER_LABEL_BYTES);
    cc_store64(out + 32, node->term);
    out[40] = node->state;
    out[41] = (uint8_t)(node->is_candidate * IS_CANDIDATE + node->is_judged * IS_JUDGED);
    cc_store32(out + 44, node->rules_version);
    cc_store64(out + 48, node->received_frame);
    cc_store64(out + 56, node->durable_frame);
    cc_store64(out + 64, node->applied);
    cc_store64(out + 72, (uint64_t)node->clock_difference_ns);
    cc_store64(out + 80, node->hash_sequence);
    memcpy(out + 88, node->effects_hash, sizeof node->effects_hash);
    write_text(out + 120, node->public_address, CLUSTER_PLACE_BYTES - 1);
    seal(out, CLUSTER_NODE_ROW_BYTES, node_magic);
}

bool cluster_row_node_decode(struct cluster_node *out, struct etcd_bytes value)
{
    const uint8_t *bytes = value.bytes;

    if (!is_sealed(value, CLUSTER_NODE_ROW_BYTES, node_magic) || bytes[40] >= CLUSTER_STATE_COUNT ||
        bytes[41] > (IS_CANDIDATE | IS_JUDGED) || !cc_is_zero(bytes + 42, 2) ||
        !cc_is_zero(bytes + 184, 8))
        return false;
    out->term = cc_load64(bytes + 32);
    out->state = bytes[40];
    out->is_candidate = (bytes[41] & IS_CANDIDATE) != 0;
    out->is_judged = (bytes[41] & IS_JUDGED) != 0;
    out->rules_version = cc_load32(bytes + 44);
    out->received_frame = cc_load64(bytes + 48);
    out->durable_frame = cc_load64(bytes + 56);
    out->applied = cc_load64(bytes + 64);
    out->clock_difference_ns = (int64_t)cc_load64(bytes + 72);
    out->hash_sequence = cc_load64(bytes + 80);
    memcpy(out->effects_hash, bytes + 88, sizeof out->effects_hash);
    return read_text(out->node, bytes + 16, CLUSTER_LABEL_BYTES, true) &&
           read_text(out->public_address, bytes + 120, CLUSTER_PLACE_BYTES, false);
}

/* ---- segment --------------------------------------------------------------------------------- */

static const char segment_magic[8] = { 'p', 'e', 'r', 'p', 'd', 'S', 'E', 'G' };

void cluster_row_segment_encode(uint8_t out[CLUSTER_SEGMENT_BYTES],
                                const struct cluster_segment *segment)
{
    memset(out, 0, CLUSTER_SEGMENT_BYTES);
    cc_store64(out + 16, segment->segment);
    cc_store64(out + 24, segment->first_frame);
    cc_store64(out + 32, segment->last_frame);
    cc_store64(out + 40, segment->first_sequence);
    cc_store64(out + 48, segment->last_sequence);
    cc_store64(out + 56, segment->last_t_ns);
    cc_store64(out + 64, segment->file_bytes);
    cc_store64(out + 72, segment->log_bytes);
    memcpy(out + 80, segment->file_hash, sizeof segment->file_hash);
    memcpy(out + 112, segment->last_frame_hash, sizeof segment->last_frame_hash);
    seal(out, CLUSTER_SEGMENT_BYTES, segment_magic);
}

bool cluster_row_segment_decode(struct cluster_segment *out, struct etcd_bytes value)
{
    const uint8_t *bytes = value.bytes;

    if (!is_sealed(value, CLUSTER_SEGMENT_BYTES, segment_magic))
        return false;
    out->segment = cc_load64(bytes + 16);
    out->first_frame = cc_load64(bytes + 24);
    out->last_frame = cc_load64(bytes + 32);
    out->first_sequence = cc_load64(bytes + 40);
    out->last_sequence = cc_load64(bytes + 48);
    out->last_t_ns = cc_load64(bytes + 56);
    out->file_bytes = cc_load64(bytes + 64);
    out->log_bytes = cc_load64(bytes + 72);
    memcpy(out->file_hash, bytes + 80, sizeof out->file_hash);
    memcpy(out->last_frame_hash, bytes + 112, sizeof out->last_frame_hash);
    return out->first_frame != 0 && out->first_frame <= out->last_frame;
}

/* ---- snapshot -------------------------------------------------------------------------------- */

static const char snapshot_magic[8] = { 'p', 'e', 'r', 'p', 'd', 'P', 'T', 'R' };

void cluster_row_snapshot_encode(uint8_t out[CLUSTER_SNAPSHOT_BYTES],
                                 const struct cluster_snapshot *snapshot)
{
    memset(out, 0, CLUSTER_SNAPSHOT_BYTES);
    cc_store64(out + 16, snapshot->sequence);
    cc_store64(out + 24, snapshot->frame);
    cc_store64(out + 32, snapshot->next_segment);
    cc_store64(out + 40, snapshot->t_ns);
    cc_store64(out + 48, snapshot->bytes);
    cc_store32(out + 56, snapshot->rules_version);
    memcpy(out + 64, snapshot->image_hash, sizeof snapshot->image_hash);
    memcpy(out + 96, snapshot->frame_hash, sizeof snapshot->frame_hash);
    memcpy(out + 128, snapshot->file_hash, sizeof snapshot->file_hash);
    write_text(out + 160, snapshot->node, CLUSTER_LABEL_BYTES);
    seal(out, CLUSTER_SNAPSHOT_BYTES, snapshot_magic);
}

bool cluster_row_snapshot_decode(struct cluster_snapshot *out, struct etcd_bytes value)
{
    const uint8_t *bytes = value.bytes;

    if (!is_sealed(value, CLUSTER_SNAPSHOT_BYTES, snapshot_magic) || !cc_is_zero(bytes + 60, 4))
        return false;
    out->sequence = cc_load64(bytes + 16);
    out->frame = cc_load64(bytes + 24);
    out->next_segment = cc_load64(bytes + 32);
    out->t_ns = cc_load64(bytes + 40);
    out->bytes = cc_load64(bytes + 48);
    out->rules_version = cc_load32(bytes + 56);
    memcpy(out->image_hash, bytes + 64, sizeof out->image_hash);
    memcpy(out->frame_hash, bytes + 96, sizeof out->frame_hash);
    memcpy(out->file_hash, bytes + 128, sizeof out->file_hash);
    return out->sequence != 0 && out->frame != 0 && out->next_segment != 0 &&
           read_text(out->node, bytes + 160, CLUSTER_LABEL_BYTES, true);
}

/* ---- genesis, handover and term -------------------------------------------------------------- */

void cluster_row_genesis_encode(uint8_t out[CLUSTER_GENESIS_BYTES],
                                const struct cluster_genesis *genesis)
{
    cc_store64(out, genesis->frame);
    cc_store64(out + 8, genesis->sequence);
    memcpy(out + 16, genesis->frame_hash, sizeof genesis->frame_hash);
}

bool cluster_row_genesis_decode(struct cluster_genesis *out, struct etcd_bytes value)
{
    const uint8_t *bytes = value.bytes;

    if (value.count != CLUSTER_GENESIS_BYTES)
        return false;
    out->frame = cc_load64(bytes);
    out->sequence = cc_load64(bytes + 8);
    memcpy(out->frame_hash, bytes + 16, sizeof out->frame_hash);
    return true;
}

void cluster_row_handover_encode(uint8_t out[CLUSTER_HANDOVER_BYTES],
                                 const struct cluster_handover *handover)
{
    memset(out, 0, CLUSTER_HANDOVER_BYTES);
    write_text(out, handover->node, CLUSTER_LABEL_BYTES);
    cc_store64(out + 16, handover->last_frame);
}

bool cluster_row_handover_decode(struct cluster_handover *out, struct etcd_bytes value)
{
    const uint8_t *bytes = value.bytes;

    if (value.count != CLUSTER_HANDOVER_BYTES || !cc_is_zero(bytes + 24, 8))
        return false;
    out->last_frame = cc_load64(bytes + 16);
    return read_text(out->node, bytes, CLUSTER_LABEL_BYTES, true);
}

bool cluster_row_term_decode(uint64_t *out, struct etcd_bytes value)
{
    if (value.count != CLUSTER_TERM_BYTES)
        return false;
    *out = cc_load64(value.bytes);
    return true;
}
