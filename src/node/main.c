/* main.c - perpd: options in, exit code out. What runs is node.c. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/log.h"
#include "base/version.h"
#include "net/http/http_map.h"
#include "net/request/base64_run.h"
#include "node/recover/snapshot_child.h"
#include "node/run/node.h"

enum { FILES_MIN = 64 }; /* for itself and a few connections */

static struct node node; /* reached by the signal handler */

static void on_stop(int number)
{
    (void)number;
    node_ask_stop(&node);
}

static void on_reload(int number)
{
    (void)number;
    node_ask_reload(&node);
}

/* Opens what was closed of standard input, output and error: the lines of the log would go to the
 * file of the exchange that took its number. */
static bool hold_standard_files(void)
{
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
        if (fcntl(file, F_GETFD) < 0 && open("/dev/null", O_RDWR) != file)
            return false;
    return true;
}

static void handle_signals(void)
{
    struct sigaction stop = { .sa_handler = on_stop };
    struct sigaction ignore = { .sa_handler = SIG_IGN };
    struct sigaction usual = { .sa_handler = SIG_DFL };
    struct sigaction reload = { .sa_handler = on_reload, .sa_flags = SA_RESTART };

    sigemptyset(&stop.sa_mask);
    sigemptyset(&reload.sa_mask);
    sigaction(SIGHUP, &reload, NULL);
    sigaction(SIGTERM, &stop, NULL);
    sigaction(SIGINT, &stop, NULL);
    sigaction(SIGQUIT, &stop, NULL);
    sigaction(SIGUSR1, &ignore, NULL);
    sigaction(SIGUSR2, &ignore, NULL);
    sigaction(SIGCHLD, &usual, NULL); /* ignored as inherited, no child has an exit code */
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL); /* a limit of file size is -EFBIG, as a full disk -ENOSPC */
}

/* Connections are files: raise the limit to the hard limit. False: there are too few even so. */
static bool raise_file_limit(void)
{
    struct rlimit limit, raised;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return true;
    raised = (struct rlimit){ .rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max };
    if (setrlimit(RLIMIT_NOFILE, &raised) != 0)
        log_line(LOG_WARN, "files", "the limit of open files stays at its soft value");
    else
        limit = raised;
    if (limit.rlim_cur >= FILES_MIN)
        return true;
    log_line(LOG_ERROR, "kernel",
             "perpd may open %llu files at a time and needs %d, more for more connections: raise "
             "the limit (ulimit -n, LimitNOFILE=)",
             (unsigned long long)limit.rlim_cur, FILES_MIN);
    return false;
}

/* Code with variants uses the best one that this machine has. */
static void choose_variants(void)
{
    enum cpu_level level = cpu_level();
    http_map_choose(level);
    base64_run_choose(level);
    log_line(LOG_INFO, "cpu", "request heads and Base64 are read by %s", cpu_level_name(level));
}

static int run(const struct config *config)
{
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2")) {
        log_line(LOG_ERROR, "cpu", "this build needs an x86-64-v3 processor (AVX2, BMI2)");
        return NODE_EXIT_KERNEL;
    }
    choose_variants();
    umask(077);
    if (!raise_file_limit())
        return NODE_EXIT_KERNEL;
    return node_run(&node, config);
}

int main(int argc, char **argv)
{
    static struct config config; /* lives as long as the process */
    int code = NODE_EXIT_CLEAN;

    /* No core dump, and no process of the same user, may have the keys that memory holds. */
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 || !hold_standard_files())
        return NODE_EXIT_FAILED;
    if (argc > 1 && strcmp(argv[1], SNAPSHOT_CHILD_FLAG) == 0)
        return snapshot_child_main(argc, (const char *const *)argv);
    if (argc > 2 && strcmp(argv[1], "--version") == 0) {
        fprintf(stderr, "perpd: '%.60s' is one word too many after --version\n", argv[2]);
        return NODE_EXIT_CONFIGURATION;
    }
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("perpd %s\n", version_text);
        return code;
    }
    handle_signals(); /* before the first line of the log, whose reader may be gone */
    node.version = (struct node_version){ version_number, version_commit, version_build };
    switch (config_load(&config, argc, (const char *const *)argv, (const char *const *)environ)) {
    case CONFIG_RUN:
        code = run(&config);
        break;
    case CONFIG_HELP:
        config_help(stdout);
        break;
    case CONFIG_PRINT:
        config_print(&config, stdout);
        break;
    case CONFIG_REFUSED:
        fprintf(stderr, "perpd: %s\n", config.error);
        code = NODE_EXIT_CONFIGURATION;
        break;
    }
    config_free(&config);
    return code;
}
