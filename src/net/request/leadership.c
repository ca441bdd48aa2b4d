#include "net/request/leadership.h"

const char leadership_awaited[] = "leader";

bool leadership_write(const struct net_config *config, struct problem_detail *problem)
{
    const struct net_source *source = &config->source;
    const char *leader;

    if (source->leads == NULL || source->leads(source->context, &leader))
        return true;
    if (leader == NULL)
        return problem_detail_set(problem, PROBLEM_not_ready, leadership_awaited,
                                  "no node of the cluster leads at the moment; nothing was "
                                  "executed; send the same request again");
    return problem_detail_set(problem, PROBLEM_not_leader, leader,
                              "another node leads; nothing was executed; send the same request to "
                              "%s",
                              leader);
}

bool leadership_read(const struct net_config *config, bool names_sequence,
                     struct problem_detail *problem)
{
    const struct net_source *source = &config->source;
    struct net_standing standing;

    if (source->leads == NULL)
        return true;
    source->standing(source->context, &standing);
    uint64_t staleness_ms = net_standing_staleness_ms(&standing);
    if (standing.is_replica && staleness_ms > config->staleness_ms)
        return problem_detail_set_number(
            problem, PROBLEM_not_ready, staleness_ms,
            "this node of the cluster shows what was %llu ms ago; ask the leader or another node",
            (unsigned long long)staleness_ms);
    if (names_sequence || source->is_fresh(source->context))
        return true;
    return problem_detail_set(problem, PROBLEM_not_ready, leadership_awaited,
                              "this leader's lease ran out, another node may know more; name a "
                              "sequence with X-Min-Sequence, or ask again");
}
