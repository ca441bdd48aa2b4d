/* store_command.h - the commands on a data directory: the last rows of command.h's table. */
#ifndef PERP_STORE_COMMAND_H
#define PERP_STORE_COMMAND_H

/* clang-format off */
#define FLAGS_JOURNAL (FLAG(data) | FLAG(from) | FLAG(to) | FLAG(code) | FLAG(account))

/*    words, handler, positionals, flags, summary, text */
#define STORE_COMMAND_LIST(X) \
    X("journal ls", command_journal_ls, "", FLAG(data), \
      "segments of a data directory, archived ones too", \
      "What their frames say, each segment by itself; journal verify proves that they chain.\n" \
      "stray_offset: bytes that are neither frame nor zero; in the open segment lawful after a crash.") \
    X("journal cat", command_journal_cat, "", FLAGS_JOURNAL, \
      "records of the journal", \
      "One line each, every field of its body named. -o json also shows key and signature. Read\n" \
      "from the archive and the journal, without the lock: beside a running perpd, or a copy.") \
    X("journal follow", command_journal_follow, "", FLAGS_JOURNAL, \
      "records of a running perpd as they become durable", \
      "A record is shown once a later frame names its frame durable, within 100 ms. Not with\n" \
      "store.durability=none, which names nothing. Ctrl-C ends it, or --to.") \
    X("journal verify", command_journal_verify, "", FLAG(data) | FLAG(from_snapshot), \
      "prove that every frame is whole and chained", \
      "From the first frame, or behind a snapshot's, to the end; the archive's files are read back.\n" \
      "The end is judged as a start would. Exit code 1 and the place of the first damage.") \
    X("journal stat", command_journal_stat, "", FLAG(data), \
      "records by code, sizes of frames, rate", "") \
    X("snapshot ls", command_snapshot_ls, "", FLAG(data), \
      "snapshots, newest first", "") \
    X("snapshot verify", command_snapshot_verify, "[SEQUENCE]", FLAG(data), \
      "prove that snapshots are whole", \
      "Checksums, image hash, the frame they chain to, and that an engine made from one has the\n" \
      "same image. Without SEQUENCE: all of them.") \
    X("snapshot dump", command_snapshot_dump, "[SEQUENCE]", FLAG(data), \
      "every row of a snapshot as a line of text", \
      "The newest without SEQUENCE. Equal states give equal lines: diff two of them.") \
    X("replay", command_replay, "[OTHER]", \
      FLAG(data) | FLAG(to) | FLAG(from_snapshot) | FLAG(hash) | FLAG(diff), \
      "replay the journal to a sequence", \
      "From the newest snapshot at or below --to; --diff: from the first record. Each effects_hash\n" \
      "record (2015) on the way is compared. --diff also compares the snapshots on the way, and\n" \
      "names the first row that differs; with OTHER, a snapshot's sequence or another data\n" \
      "directory, it compares with that alone: of two directories the first sequence whose record\n" \
      "or whose effects differ is named.") \
    X("audit", command_audit, "[signatures]", FLAG(data) | FLAG(from_snapshot), \
      "prove a data directory from its first record to its last", \
      "The chain, every effects_hash, the money invariants I1 to I6 at each of them and at the end,\n" \
      "and every snapshot's image; with 'signatures' also every signature. Exit code 1 when one fails.") \
    X("admin clear-poison", command_admin_clear_poison, "", FLAG(data), \
      "let in again what a crash has put off", \
      "Lists and forgets the commands on which perpd has aborted: their ids, their types, and what\n" \
      "keeps perpd from starting. Only while perpd is stopped: it takes the directory's lock.")
/* clang-format on */

#endif
