/* main.c - perp-demo: the scene, or one of the processes that it starts. */
#include <stdio.h>

#include "base/version.h"
#include "crypto/signer.h"
#include "perp_demo/actor.h"
#include "perp_demo/role.h"
#include "perp_demo/scene.h"

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("perp-demo %s\n", version_text);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "--help") == 0) {
        printf("usage: perp-demo [--seconds 1..86400] [--chaos] [--cluster] [--topology WORD] "
               "[--at-least TRADES] [--plain] [--keep]\n       perp-demo --version\n");
        return 0;
    }
    bool is_actor = argc > 1 && role_find(argv[1]) != NULL;
    if (is_actor && argc != ACTOR_ARGUMENTS) {
        fprintf(stderr, "perp-demo: %s is a process that the demo starts, with %d words\n", argv[1],
                ACTOR_ARGUMENTS - 1);
        return 2;
    }
    if (signer_init() != 0) {
        fprintf(stderr, "perp-demo: the cryptographic library does not start\n");
        return 1;
    }
    return is_actor ? actor_run(argc, argv) : scene_run(argc, argv);
}
