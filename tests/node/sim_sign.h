/* sim_sign.h - signatures of a simulated exchange: real ones, or for most seeds a keyed sum in the
 * place of the curves, which costs a thousandth.
 *
 * The simulator's programs are linked with --wrap for ed25519_verify, secp256k1_verify, their
 * second paths, clock_calibrate and secret_random (tests/CMakeLists.txt): the net threads' calls
 * come here. What a sum refuses is what a curve refuses: another message, another key, another
 * signature. */
#ifndef TESTS_NODE_SIM_SIGN_H
#define TESTS_NODE_SIM_SIGN_H

#include "crypto/eip712.h"
#include "sim_traffic.h"

/* Begins a run: `is_real` takes the curves; `seed` is of what secret_random gives. */
void sim_sign_begin(bool is_real, uint64_t seed, const uint8_t exchange_id[32]);

/* Signs the request in its bytes; a spoilt one gets a signature that is wrong. */
void sim_sign(struct traffic *traffic, struct traffic_sent *sent);

#endif
