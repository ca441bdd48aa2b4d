/* server.h - the perpd of the demo: started on ports of its own, killed, started again.
 *
 * Owner. The scene's thread. */
#ifndef PERP_DEMO_SERVER_H
#define PERP_DEMO_SERVER_H

#include <signal.h>

#include "perp_demo/crew.h"
#include "perp_demo/provision.h"

struct server {
    const char *bin;      /* the folder with the program perpd */
    const char *folder;   /* its data, markets and log are here */
    const char *topology; /* NULL: its default */
    uint16_t port, admin_port;
    char url[64], admin_url[64];
    char console_url[64]; /* of the web console: browsers give passkeys to localhost alone */
    bool ready;
};

/* Draws the ports: `wanted` for the public one when it is free, 0 for any. */
void server_choose_ports(struct server *server, uint16_t wanted);

/* Starts perpd as `member` and waits until it says that it is ready, or *interrupted is set. False:
 * a message was printed. */
CC_MUST_USE bool server_start(struct server *server, struct crew_member *member,
                              const struct provision *provision,
                              const volatile sig_atomic_t *interrupted);

#endif
