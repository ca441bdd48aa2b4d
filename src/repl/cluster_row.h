/* cluster_row.h - the values of a cluster's keys in etcd as bytes (replication.md, Keys).
 *
 * Each begins with a magic, a version, its length and a CRC32C of what follows it; term, genesis
 * and handover are bare. Little-endian; pads are zero, and checked. Pure; any thread. */
#ifndef REPL_CLUSTER_ROW_H
#define REPL_CLUSTER_ROW_H

#include "repl/etcd.h"

enum {
    CLUSTER_ROW_VERSION = 1,
    CLUSTER_IDENTITY_BYTES = 96,
    CLUSTER_LEADER_BYTES = 192,
    CLUSTER_NODE_ROW_BYTES = 192,
    CLUSTER_TERM_BYTES = 8,
    CLUSTER_GENESIS_BYTES = 48,
    CLUSTER_HANDOVER_BYTES = 32,
    CLUSTER_SEGMENT_BYTES = 144,
    CLUSTER_SNAPSHOT_BYTES = 176,
    CLUSTER_LABEL_BYTES = 16, /* of a node, without an end if it is that long */
    CLUSTER_PLACE_BYTES = 64  /* host:port with its end */
};

struct cluster_identity {
    uint8_t journal_id[16];
    uint8_t exchange_id[32];
    uint8_t key_hash[32]; /* of hash_key and secret_key */
};

struct cluster_leader {
    uint64_t term;
    char node[CLUSTER_LABEL_BYTES + 1];
    uint32_t rules_version;
    uint64_t began_ns;
    char public_address[CLUSTER_PLACE_BYTES];
    char admin_address[CLUSTER_PLACE_BYTES];
};

enum cluster_state {
    CLUSTER_STARTING,
    CLUSTER_BEHIND,
    CLUSTER_CURRENT,
    CLUSTER_LEADING,
    CLUSTER_LEAVING,
    CLUSTER_DIVERGED,
    CLUSTER_DISK,
    CLUSTER_WAITING, /* for the snapshot of an upgrade: its binary has a later rules_version */
    CLUSTER_STATE_COUNT
};

struct cluster_node {
    char node[CLUSTER_LABEL_BYTES + 1];
    uint64_t term;
    uint8_t state; /* enum cluster_state */
    bool is_candidate;
    bool is_judged; /* its clock, by frames of a leader; else clock_difference_ns tells nothing */
    uint32_t rules_version;
    uint64_t received_frame, durable_frame, applied;
    int64_t clock_difference_ns;
    uint64_t hash_sequence; /* 0: none shown */
    uint8_t effects_hash[32];
    char public_address[CLUSTER_PLACE_BYTES];
};

/* Where the log begins: after this frame. */
struct cluster_genesis {
    uint64_t frame, sequence;
    uint8_t frame_hash[32];
};

/* To whom a leader gives the lead, and the last frame of its term. */
struct cluster_handover {
    char node[CLUSTER_LABEL_BYTES + 1];
    uint64_t last_frame;
};

/* A sealed segment of the journal that the vault has. */
struct cluster_segment {
    uint64_t segment;
    uint64_t first_frame, last_frame;
    uint64_t first_sequence, last_sequence; /* last < first: no record in it */
    uint64_t last_t_ns;
    uint64_t file_bytes; /* in the vault */
    uint64_t log_bytes;  /* of its frames in the log, and of all segments before it in the vault */
    uint8_t file_hash[32]; /* BLAKE2b-256 */
    uint8_t last_frame_hash[32];
};

/* A snapshot that the vault has. */
struct cluster_snapshot {
    uint64_t sequence, frame; /* its frame ends a segment */
    uint64_t next_segment;    /* after that one */
    uint64_t t_ns;
    uint64_t bytes; /* of its file */
    uint32_t rules_version;
    uint8_t image_hash[32], frame_hash[32], file_hash[32]; /* BLAKE2b-256 */
    char node[CLUSTER_LABEL_BYTES + 1];                    /* that put it */
};

void cluster_row_identity_encode(uint8_t out[CLUSTER_IDENTITY_BYTES],
                                 const struct cluster_identity *identity);
void cluster_row_leader_encode(uint8_t out[CLUSTER_LEADER_BYTES],
                               const struct cluster_leader *leader);
void cluster_row_node_encode(uint8_t out[CLUSTER_NODE_ROW_BYTES], const struct cluster_node *node);
void cluster_row_genesis_encode(uint8_t out[CLUSTER_GENESIS_BYTES],
                                const struct cluster_genesis *genesis);
void cluster_row_handover_encode(uint8_t out[CLUSTER_HANDOVER_BYTES],
                                 const struct cluster_handover *handover);
void cluster_row_segment_encode(uint8_t out[CLUSTER_SEGMENT_BYTES],
                                const struct cluster_segment *segment);
void cluster_row_snapshot_encode(uint8_t out[CLUSTER_SNAPSHOT_BYTES],
                                 const struct cluster_snapshot *snapshot);

/* Read a value. False if it is none: another length, magic, version or CRC, or a text or pad that
 * is not as it must be; *out is then undefined. */
CC_MUST_USE bool cluster_row_identity_decode(struct cluster_identity *out, struct etcd_bytes value);
CC_MUST_USE bool cluster_row_leader_decode(struct cluster_leader *out, struct etcd_bytes value);
CC_MUST_USE bool cluster_row_node_decode(struct cluster_node *out, struct etcd_bytes value);
CC_MUST_USE bool cluster_row_genesis_decode(struct cluster_genesis *out, struct etcd_bytes value);
CC_MUST_USE bool cluster_row_handover_decode(struct cluster_handover *out, struct etcd_bytes value);
CC_MUST_USE bool cluster_row_segment_decode(struct cluster_segment *out, struct etcd_bytes value);
CC_MUST_USE bool cluster_row_snapshot_decode(struct cluster_snapshot *out, struct etcd_bytes value);
CC_MUST_USE bool cluster_row_term_decode(uint64_t *out, struct etcd_bytes value);

#endif
