/* trial.h - one exchange under load: a perpd that is started for it, or one at an address; its
 * accounts; and passes of load over the same connections.
 *
 *   trial_open()                       start or find the exchange, fund accounts, connect
 *   trial_pass() ... trial_pass()    sign, warm up, measure: one JSON object of figures each
 *   trial_close()
 *
 * A failure has been printed and set in the context.
 * Owner. The command's thread. */
#ifndef PERP_BENCH_TRIAL_H
#define PERP_BENCH_TRIAL_H

#include "perp/bench/bench_settings.h"
#include "perp/bench/connections.h"
#include "perp/bench/figures.h"

struct trial {
    struct context *context;
    const struct bench_settings *settings;
    struct rig rig; /* of a remote exchange: its addresses and keys */
    bool is_open, has_admin;
    struct client control, admin;
    struct rig_trader *traders;
    struct connections connections; /* of the load */
    struct workload workload;
    struct outcomes outcomes;
    double calibration_ns;       /* libsodium's verification in this process */
    struct hdr latency, service; /* of the last pass */
    uint64_t pass_unix_ns;       /* when it began */
    char label[64];              /* in the progress line */
    pid_t beside;                /* process group of --beside; 0: none */
};

/* `perpd` and `options` are those of the settings unless a comparison has its own. */
CC_MUST_USE bool trial_open(struct trial *trial, struct context *context,
                            const struct bench_settings *settings);

/* What the exchange says of itself: commit, durability, topology and more; null where the admin
 * listener is not known. */
json_t *trial_exchange(struct trial *trial);

/* Signs what is due of a schedule, dated from `begin_unix_ms`. False after a printed error. */
CC_MUST_USE bool trial_sign(struct trial *trial, const struct schedule *schedule,
                            uint64_t begin_unix_ms, struct corpus *corpus);

/* One pass of the settings' schedule at a rate (0: closed loop): its figures, which the caller
 * owns; NULL after a printed error. */
json_t *trial_pass(struct trial *trial, double rate_per_s);

/* Ends what trial_open began, whole or in part. It prints and sets an error when a perpd that was
 * started does not end well. */
void trial_close(struct trial *trial);

/* Signing takes at most so long: the ids of a pass are dated from then on. */
uint64_t trial_lead_ms(const struct trial *trial, uint64_t requests);

#endif
