/* Values of a cluster's keys: what is written is read, at the offsets of replication.md, and no
 * value with a bit of it changed is taken. */
#include "check.h"
#include "repl/cluster_row.h"
#include "repl/etcd_call.h"
#include "repl/repl_key.h"

static uint8_t bytes[CLUSTER_LEADER_BYTES];

/* Every byte, changed in each bit: `read` takes none of them. */
static void flip(size_t count, bool (*read)(struct etcd_bytes value))
{
    CHECK(read((struct etcd_bytes){ bytes, count }));
    CHECK(!read((struct etcd_bytes){ bytes, count - 1 }));
    for (size_t i = 0; i < 8 * count; i++) {
        bytes[i / 8] ^= (uint8_t)(1 << i % 8);
        CHECK(!read((struct etcd_bytes){ bytes, count }));
        bytes[i / 8] ^= (uint8_t)(1 << i % 8);
    }
}

static bool read_identity(struct etcd_bytes value)
{
    struct cluster_identity row;
    return cluster_row_identity_decode(&row, value);
}

static bool read_leader(struct etcd_bytes value)
{
    struct cluster_leader row;
    return cluster_row_leader_decode(&row, value);
}

static bool read_node(struct etcd_bytes value)
{
    struct cluster_node row;
    return cluster_row_node_decode(&row, value);
}

static void identity(void)
{
    const struct cluster_identity row = { .journal_id = { 1 },
                                          .exchange_id = { 2 },
                                          .key_hash = { 3 } };
    cluster_row_identity_encode(bytes, &row);
    CHECK(memcmp(bytes, "perpdCLU", 8) == 0 && cc_load16(bytes + 8) == 1);
    CHECK(cc_load16(bytes + 10) == 96 && bytes[16] == 1 && bytes[32] == 2 && bytes[64] == 3);
    flip(CLUSTER_IDENTITY_BYTES, read_identity);
}

static void leader(void)
{
    const struct cluster_leader row = { .term = 9,
                                        .node = "sixteen-bytes-00",
                                        .rules_version = 7,
                                        .began_ns = 5,
                                        .public_address = "venue-one:8080",
                                        .admin_address = "127.0.0.1:8081" };
    struct cluster_leader back;
    cluster_row_leader_encode(bytes, &row);
    CHECK(memcmp(bytes, "perpdLDR", 8) == 0 && cc_load64(bytes + 16) == 9);
    CHECK(memcmp(bytes + 24, row.node, 16) == 0 && cc_load32(bytes + 40) == 7);
    CHECK(cc_load64(bytes + 48) == 5 && memcmp(bytes + 56, "venue-one:8080", 15) == 0);
    CHECK(memcmp(bytes + 120, "127.0.0.1:8081", 15) == 0 && cc_load64(bytes + 184) == 0);
    CHECK(cluster_row_leader_decode(&back, (struct etcd_bytes){ bytes, sizeof bytes }));
    CHECK(back.term == 9 && strcmp(back.node, row.node) == 0 && back.began_ns == 5);
    flip(CLUSTER_LEADER_BYTES, read_leader);
}

static void node(void)
{
    const struct cluster_node row = { .node = "a",
                                      .term = 2,
                                      .state = CLUSTER_CURRENT,
                                      .is_candidate = true,
                                      .is_judged = true,
                                      .rules_version = 7,
                                      .received_frame = 11,
                                      .durable_frame = 12,
                                      .applied = 13,
                                      .clock_difference_ns = -14,
                                      .hash_sequence = 15,
                                      .effects_hash = { 16, [31] = 17 },
                                      .public_address = "x:1" };
    cluster_row_node_encode(bytes, &row);
    CHECK(memcmp(bytes, "perpdNOD", 8) == 0 && bytes[16] == 'a' && cc_load64(bytes + 32) == 2);
    CHECK(bytes[40] == 2 && bytes[41] == 3 && cc_load32(bytes + 44) == 7);
    CHECK(cc_load64(bytes + 48) == 11 && cc_load64(bytes + 56) == 12);
    CHECK(cc_load64(bytes + 64) == 13 && (int64_t)cc_load64(bytes + 72) == -14);
    CHECK(cc_load64(bytes + 80) == 15 && bytes[88] == 16 && bytes[119] == 17);
    CHECK(memcmp(bytes + 120, "x:1", 4) == 0);
    flip(CLUSTER_NODE_ROW_BYTES, read_node);
}

static void handover(void)
{
    const struct cluster_handover row = { .node = "0123456789abcdef", .last_frame = 7 };
    struct cluster_handover back;
    struct etcd_bytes value = { bytes, CLUSTER_HANDOVER_BYTES };
    cluster_row_handover_encode(bytes, &row);
    CHECK(memcmp(bytes, "0123456789abcdef", 16) == 0 && cc_load64(bytes + 16) == 7);
    CHECK(cluster_row_handover_decode(&back, value) && strcmp(back.node, row.node) == 0);
    CHECK(back.last_frame == 7);
    value.count--;
    CHECK(!cluster_row_handover_decode(&back, value));
    value.count++;
    for (int at = 24; at < 32; at++) { /* the pad; the rest has no check of its own */
        bytes[at] = 1;
        CHECK(!cluster_row_handover_decode(&back, value));
        bytes[at] = 0;
    }
    bytes[3] = 0;
    CHECK(!cluster_row_handover_decode(&back, value));
}

static bool read_segment(struct etcd_bytes value)
{
    struct cluster_segment back;
    return cluster_row_segment_decode(&back, value);
}

static void segment(void)
{
    const struct cluster_segment row = {
        .segment = 3,
        .first_frame = 11,
        .last_frame = 12,
        .first_sequence = 13,
        .last_sequence = 14,
        .last_t_ns = 15,
        .file_bytes = 16,
        .log_bytes = 17,
        .file_hash = { 18 },
        .last_frame_hash = { 19 },
    };
    struct cluster_segment back;
    cluster_row_segment_encode(bytes, &row);
    CHECK(memcmp(bytes, "perpdSEG", 8) == 0 && cc_load64(bytes + 16) == 3);
    for (uint64_t i = 0; i < 7; i++)
        CHECK(cc_load64(bytes + 24 + 8 * i) == 11 + i);
    CHECK(bytes[80] == 18 && bytes[112] == 19);
    CHECK(cluster_row_segment_decode(&back, (struct etcd_bytes){ bytes, CLUSTER_SEGMENT_BYTES }));
    CHECK(memcmp(&back, &row, sizeof row) == 0); /* no padding */
    flip(CLUSTER_SEGMENT_BYTES, read_segment);
    struct repl_key key = repl_key_segment("c", 0xAB);
    CHECK(strcmp(key.text, "perp/c/segment/00000000000000ab") == 0);
}

static bool read_snapshot(struct etcd_bytes value)
{
    struct cluster_snapshot back;
    return cluster_row_snapshot_decode(&back, value);
}

static void snapshot(void)
{
    const struct cluster_snapshot row = {
        .sequence = 11,
        .frame = 12,
        .next_segment = 13,
        .t_ns = 14,
        .bytes = 15,
        .rules_version = 7,
        .image_hash = { 16 },
        .frame_hash = { 17 },
        .file_hash = { 18 },
        .node = "sixteen-bytes-00",
    };
    struct cluster_snapshot back;
    struct etcd_bytes value = { bytes, CLUSTER_SNAPSHOT_BYTES };
    cluster_row_snapshot_encode(bytes, &row);
    CHECK(memcmp(bytes, "perpdPTR", 8) == 0 && cc_load16(bytes + 10) == 176);
    for (uint64_t i = 0; i < 5; i++)
        CHECK(cc_load64(bytes + 16 + 8 * i) == 11 + i);
    CHECK(cc_load32(bytes + 56) == 7 && cc_load32(bytes + 60) == 0);
    CHECK(bytes[64] == 16 && bytes[96] == 17 && bytes[128] == 18);
    CHECK(memcmp(bytes + 160, row.node, 16) == 0);
    CHECK(cluster_row_snapshot_decode(&back, value));
    CHECK(back.bytes == 15 && back.rules_version == 7 && strcmp(back.node, row.node) == 0);
    CHECK(memcmp(back.file_hash, row.file_hash, sizeof row.file_hash) == 0);
    flip(CLUSTER_SNAPSHOT_BYTES, read_snapshot);
    struct repl_key key = repl_key_snapshot("c", 0xAB);
    CHECK(strcmp(key.text, "perp/c/snapshot/00000000000000ab") == 0);
}

static void keys(void)
{
    struct repl_key key = repl_key_frame("c", 0xAB);
    CHECK(strcmp(key.text, "perp/c/log/00000000000000ab") == 0);
    CHECK(repl_key_number("c", etcd_text(key.text)) == 0xAB);
    CHECK(repl_key_number("d", etcd_text(key.text)) == 0);
    CHECK(repl_key_number("c", etcd_text("perp/c/log/00000000000000AB")) == 0);
    CHECK(repl_key_number("c", etcd_text("perp/c/log/00000000000000ab0")) == 0);
    CHECK(repl_key_number("c", etcd_text("perp/c/log/~")) == 0);
}

int main(void)
{
    identity();
    leader();
    node();
    handover();
    segment();
    snapshot();
    keys();
    return 0;
}
