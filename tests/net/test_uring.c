/* A kernel that refuses io_uring is told apart from other failures, with the remedy; a bad or taken
 * address is named (roles.md, exit code 4 and 1). */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "net/fixture.h"
#include "net/net.h"

static struct fixture fixture;

/* From here on io_uring_setup fails with `error` in this process. */
static void forbid_io_uring(int error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { .len = CC_COUNT(filter), .filter = filter };
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static const struct {
    int line;
    const char *name;
    int error;
    const char *remedy;
} rows[] = {
    { __LINE__, "hidden by seccomp", ENOSYS, "Linux 6.1 or newer is needed" },
    { __LINE__, "forbidden", EPERM, "kernel.io_uring_disabled" },
    { __LINE__, "too old", EINVAL, "the kernel is too old" },
    { __LINE__, "no memory", ENOMEM, "ulimit -l" },
};

static void refusals_name_their_remedy(void)
{
    for (size_t i = 0; i < CC_COUNT(rows); i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (child == 0) {
            struct net_diagnosis diagnosis;
            struct net *net;
            forbid_io_uring(rows[i].error);
            CHECK_ROW(&rows[i], net_create(&net, &fixture.config, &diagnosis) == -rows[i].error);
            CHECK_ROW(&rows[i], net == NULL && diagnosis.kernel_lacks);
            CHECK_ROW(&rows[i], strstr(diagnosis.text, rows[i].remedy) != NULL);
            _exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child);
        CHECK_ROW(&rows[i], WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

static void addresses_are_named(void)
{
    struct net_diagnosis diagnosis;
    struct net *net, *other;
    char taken[64];
    static const char *const bad[] = { "",
                                       "8080",
                                       "127.0.0.1",
                                       "127.0.0.1:",
                                       ":80",
                                       "[::1:80",
                                       "127.0.0.1:8x",
                                       "127.0.0.1:123456",
                                       "300.1.1.1:80",
                                       "127.0.0.1:65536",
                                       "127.0.0.1:-1" };
    for (size_t i = 0; i < CC_COUNT(bad); i++) {
        fixture.config.listen = bad[i];
        CHECK(net_create(&net, &fixture.config, &diagnosis) == -EINVAL);
        CHECK(diagnosis.bad_address && !diagnosis.kernel_lacks);
        CHECK(strstr(diagnosis.text, "net.listen: ") == diagnosis.text);
        CHECK(strstr(diagnosis.text, bad[i]) != NULL);
    }
    fixture.config.listen = "127.0.0.1:0";
    fixture.config.admin_listen = NULL;
    CHECK(net_create(&net, &fixture.config, &diagnosis) == 0);
    CHECK(net_admin_port(net) == 0);
    (void)snprintf(taken, sizeof taken, "127.0.0.1:%u", net_port(net));
    fixture.config.listen = taken;
    CHECK(net_create(&other, &fixture.config, &diagnosis) == -EADDRINUSE);
    CHECK(!diagnosis.bad_address && !diagnosis.kernel_lacks);
    CHECK(strstr(diagnosis.text, "net.listen: cannot listen on ") == diagnosis.text);
    net_destroy(net);
    fixture.config.listen = "[::1]:0";
    if (net_create(&net, &fixture.config, &diagnosis) == 0) { /* where the machine has IPv6 */
        CHECK(strcmp(net_host(net), "[::1]") == 0 && net_port(net) != 0);
        net_destroy(net);
    }
}

int main(void)
{
    fixture_init(&fixture, false, FIXTURE_SLOTS);
    refusals_name_their_remedy();
    addresses_are_named();
    fixture_free(&fixture);
    return 0;
}
