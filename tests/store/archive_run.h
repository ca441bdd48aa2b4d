/* archive_run.h - a data directory with several sealed segments, for what is done with those. */
#ifndef TESTS_STORE_ARCHIVE_RUN_H
#define TESTS_STORE_ARCHIVE_RUN_H

#include "store/archive.h"
#include "store_run.h"

enum { ARCHIVE_RUN_SEALED = 5 };

/* A simulated disk of ARCHIVE_RUN_SEALED sealed segments, of which none is archived. */
struct disk *archive_run_disk(uint64_t seed, struct store_model *model,
                              struct exchange_file *exchange, uint32_t *segment_bytes);

/* archive_open; what it returns is what the refusal says. */
enum refusal_kind archive_run_open(struct archive *archive, struct disk *disk,
                                   const struct exchange_file *exchange);

/* The two lists are equal. */
void archive_run_equal(const struct archive *a, const struct archive *b);

/* Writes records of changing sizes, in lives that end in kills, until `segments` are sealed; leaves
 * the disk killed and the exchange in *exchange. Each life begins a boot. */
void archive_run_write(struct disk *disk, struct store_model *model,
                       const struct store_options *options, uint64_t segments,
                       struct exchange_file *exchange);

/* Archives the segments [archive->count, end); they must not be pruned. */
void archive_run_store(struct archive *archive, struct disk *disk,
                       const struct exchange_file *exchange, uint64_t end, uint32_t segment_bytes);

/* What archive_load gives is what stood in journal/ when `before` was copied from the disk. */
void archive_run_check(const struct archive *archive, struct disk *disk, const struct disk *before,
                       const struct exchange_file *exchange, uint32_t segment_bytes);

#endif
