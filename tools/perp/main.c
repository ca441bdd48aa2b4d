/* main.c - the program perp: arguments, settings, one command, an exit code. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>

#include "base/version.h"
#include "crypto/signer.h"
#include "perp/command/command.h"

int main(int argc, char **argv)
{
    static struct settings settings;
    struct arguments arguments;
    char error[ARGUMENTS_ERROR_MAX], reason[SETTINGS_ERROR_MAX];
    (void)signal(SIGPIPE, SIG_IGN);
    if (argc > 2 && strcmp(argv[1], "--version") == 0) {
        fprintf(stderr, "perp: '%.60s' is one word too many after --version\n", argv[2]);
        return EXIT_CODE_usage;
    }
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("perp %s\n", version_text);
        return EXIT_CODE_accepted;
    }
    size_t count;
    const struct command_row *table = command_table(&count);
    enum arguments_result result = arguments_parse(&arguments, table, count, argc, argv, error);
    if (result == ARGUMENTS_WRONG) {
        fprintf(stderr, "perp: %s\n", error);
        return EXIT_CODE_usage;
    }
    if (result == ARGUMENTS_HELP) {
        arguments_help(stdout, &arguments);
        return EXIT_CODE_accepted;
    }
    const char *const *flags = arguments.values; /* settings come first among the flags */
    if (!settings_load(&settings, flags, arguments.values[FLAG_config],
                       arguments.values[FLAG_profile], arguments_has(&arguments, FLAG_save),
                       reason)) {
        fprintf(stderr, "perp: %s\n", reason);
        return EXIT_CODE_usage;
    }
    if (signer_init() != 0) {
        fprintf(stderr, "perp: the cryptographic library does not start\n");
        return EXIT_CODE_usage;
    }
    struct context context = { .arguments = &arguments, .settings = &settings };
    int code = arguments.command->handler(&context);
    context_end(&context);
    if (fflush(stdout) != 0 && errno != EPIPE) {
        fprintf(stderr, "perp: cannot write the answer: %s\n", strerror(errno));
        return code != EXIT_CODE_accepted ? code : EXIT_CODE_usage;
    }
    return code;
}
