#include "perp_demo/crew.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MEMBERS_MAX = 64, READ_BYTES = 4096, WAIT_STEP_MS = 10 };

/* Between fork and exec of a single-threaded process: any call is allowed. */
_Noreturn static void become(const char *const *argv, int input, int output, const char *log_path,
                             int death, pid_t scene)
{
    int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0 || dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(log, STDERR_FILENO) < 0)
        _exit(127);
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, death);
    if (getppid() != scene)
        _exit(127); /* the scene died before the line above */
    execv(argv[0], (char *const *)(uintptr_t)argv);
    dprintf(STDERR_FILENO, "cannot start %s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

int crew_start(struct crew_member *member, const char *name, const char *const *argv,
               const char *log_path, int death)
{
    int input[2], output[2];
    pid_t scene = getpid();
    *member = (struct crew_member){ .to = -1, .from = -1 };
    snprintf(member->name, sizeof member->name, "%s", name);
    if (pipe2(input, O_CLOEXEC) != 0)
        return -errno;
    if (pipe2(output, O_CLOEXEC) != 0) {
        int error = -errno;
        close(input[0]);
        close(input[1]);
        return error;
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        become(argv, input[0], output[1], log_path, death, scene);
    int error = -errno;
    close(input[0]);
    close(output[1]);
    if (pid < 0) {
        close(input[1]);
        close(output[0]);
        return error;
    }
    member->pid = pid;
    member->to = input[1];
    member->from = output[0];
    return 0;
}

void crew_send(struct crew_member *member, const char *line)
{
    /* A member that is gone shows when its output ends. */
    if (member->to >= 0)
        (void)!dprintf(member->to, "%s\n", line);
}

static void reap(struct crew_member *member, int options)
{
    int status;
    if (member->pid == 0 || waitpid(member->pid, &status, options) != member->pid)
        return;
    member->pid = 0;
    member->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void close_pipes(struct crew_member *member)
{
    if (member->to >= 0)
        close(member->to);
    if (member->from >= 0)
        close(member->from);
    member->to = member->from = -1;
}

static void split_lines(struct crew_member *member, const char *text, ssize_t count,
                        crew_listener *listener, void *context)
{
    for (ssize_t i = 0; i < count; i++) {
        if (text[i] == '\n') {
            member->line[member->line_count] = '\0';
            member->line_count = 0;
            listener(context, member, member->line);
        } else if (member->line_count + 1 < sizeof member->line) {
            member->line[member->line_count++] = text[i];
        }
    }
}

void crew_listen(struct crew_member *members, size_t count, int timeout_ms, crew_listener *listener,
                 void *context)
{
    struct pollfd files[MEMBERS_MAX];
    char text[READ_BYTES];
    INVARIANT(count <= MEMBERS_MAX);
    for (size_t i = 0; i < count; i++)
        files[i] = (struct pollfd){ .fd = members[i].from, .events = POLLIN };
    if (poll(files, (nfds_t)count, timeout_ms) <= 0)
        return;
    for (size_t i = 0; i < count; i++) {
        if (files[i].fd < 0 || files[i].revents == 0)
            continue;
        ssize_t bytes = read(members[i].from, text, sizeof text);
        if (bytes > 0) {
            split_lines(&members[i], text, bytes, listener, context);
        } else if (bytes == 0 || errno != EINTR) {
            close_pipes(&members[i]);
            reap(&members[i], 0);
        }
    }
}

bool crew_end(struct crew_member *member, int signal_number, int timeout_ms)
{
    const struct timespec step = { .tv_nsec = WAIT_STEP_MS * 1000000 };
    if (member->to >= 0)
        close(member->to);
    member->to = -1;
    if (member->pid != 0 && signal_number != 0)
        (void)kill(member->pid, signal_number);
    bool killed = false;
    for (int waited = 0; member->pid != 0; waited += WAIT_STEP_MS) {
        reap(member, WNOHANG);
        if (member->pid == 0)
            break;
        if (waited >= timeout_ms && !killed) {
            (void)kill(member->pid, SIGKILL);
            killed = true;
        }
        if (member->from >= 0) { /* a full pipe must not hold it up */
            char text[READ_BYTES];
            struct pollfd file = { .fd = member->from, .events = POLLIN };
            if (poll(&file, 1, 0) > 0 && read(member->from, text, sizeof text) <= 0)
                close_pipes(member);
        }
        (void)nanosleep(&step, NULL);
    }
    close_pipes(member);
    return !killed && member->exit_code == 0;
}
