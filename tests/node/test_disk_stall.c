/* When a leader's disk stands still (replication.md, A node; cluster.disk_stall_ms). */
#include "check.h"
#include "node/replicator/disk_stall.h"

int main(void)
{
    static const struct {
        int line;
        const char *name;
        uint64_t now_ms, durable, landed;
        bool stands;
    } rows[] = {
    /* one after the other; 500 ms are the bound */
#define R(...) { __LINE__, __VA_ARGS__ }
        R("nothing yet", 1000, 7, 7, false),
        R("a frame on its way", 1001, 7, 8, false),
        R("more of them", 1400, 7, 12, false),
        R("not yet", 1500, 7, 12, false),
        R("one came", 1501, 8, 12, false),
        R("counted from there", 2000, 8, 12, false),
        R("over", 2001, 8, 12, true),
        R("all came", 2002, 12, 12, false),
        R("idle for long", 9000, 12, 12, false),
        R("the next is new", 9001, 12, 13, false),
        R("and in time", 9500, 12, 13, false),
        R("over again", 9501, 12, 13, true),
        R("etcd lags: the disk has more than counts", 9600, 14, 13, false),
        R("for long", 19600, 14, 13, false),
    };
    struct disk_stall stall = { 0 };

    for (size_t i = 0; i < CC_COUNT(rows); i++)
        CHECK_ROW(&rows[i], disk_stall_look(&stall, rows[i].durable, rows[i].landed, 500000000,
                                            rows[i].now_ms * 1000000) == rows[i].stands);
    return 0;
}
