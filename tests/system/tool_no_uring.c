/* Runs a command in which io_uring_setup fails with EPERM, as under a container's seccomp filter:
 * `no_uring COMMAND...`; with MLOCK in the environment mlock fails in its place. Exit code 120 when
 * the filter cannot be set. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/compiler.h"

enum { NO_FILTER = 120 };

int main(int argc, char **argv)
{
    unsigned call = getenv("MLOCK") != NULL ? SYS_mlock : SYS_io_uring_setup;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { .len = CC_COUNT(filter), .filter = filter };

    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return NO_FILTER;
    execv(argv[1], argv + 1);
    return NO_FILTER;
}
