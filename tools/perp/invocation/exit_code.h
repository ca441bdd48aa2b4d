/* exit_code.h - the exit codes that the commands of perp share. */
#ifndef PERP_INVOCATION_EXIT_CODE_H
#define PERP_INVOCATION_EXIT_CODE_H

/* clang-format off */
#define EXIT_CODE_LIST(X) \
    X(accepted,   0, "done: the exchange accepted the request, or the command worked") \
    X(rejected,   1, "the exchange answered and refused: the status says why; of a data directory: it is wrong somewhere") \
    X(usage,      2, "the command line, the configuration or a local file is wrong; nothing was sent") \
    X(problem,    3, "the exchange answered with an HTTP error and a problem object; of a data directory: it is none") \
    X(connection, 4, "no connection, or it ended before the answer: the request may have been executed") \
    X(malformed,  5, "decode: the bytes are no payload, or one that the exchange refuses") \
    X(drifting,   6, "time: half of the window of request ids is used up by this machine's clock") \
    X(clock,      7, "time: ids of this machine's clock are refused")
/* clang-format on */

enum exit_code {
#define X(name, code, help) EXIT_CODE_##name = (code),
    EXIT_CODE_LIST(X)
#undef X
};

#endif
