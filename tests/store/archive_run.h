/* archive_run.h - a data directory with several sealed segments, for what is done with those. */
#ifndef TESTS_STORE_ARCHIVE_RUN_H
#define TESTS_STORE_ARCHIVE_RUN_H

#include "store/archive.h"
#include "store_run.h"

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
