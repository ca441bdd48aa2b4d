/* version.h - what a program was built from. tools/version.cmake writes the definitions; only
 * programs link them, so that a new commit makes no archive of src new. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

extern const char version_number[]; /* "0.2.0" */
extern const char version_commit[]; /* 12 hex digits, "-changed" if the sources differ; "unknown" */
extern const char version_build[];  /* the build type, "Release"; with sanitizers their names */
extern const char version_text[];   /* all of them: "0.2.0, commit 1a2b3c4d5e6f, Release build" */

#endif
