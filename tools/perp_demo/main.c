/* main.c - perp-demo: the stage, or one of the processes that it starts. */
#include <stdio.h>

#include "crypto/signer.h"
#include "perp_demo/actor.h"
#include "perp_demo/stage.h"

int main(int argc, char **argv)
{
    if (signer_init() != 0) {
        fprintf(stderr, "perp-demo: the cryptographic library does not start\n");
        return 1;
    }
    bool actor = argc > 1 && (strcmp(argv[1], "maker") == 0 || strcmp(argv[1], "taker") == 0 ||
                              strcmp(argv[1], "oracle") == 0);
    return actor ? actor_run(argc, argv) : stage_run(argc, argv);
}
