/* server.h - the perpd of the demo: started on ports of its own, killed, started again.
 *
 * Owner. The scene's thread. */
#ifndef PERP_DEMO_SERVER_H
#define PERP_DEMO_SERVER_H

#include <signal.h>

#include "perp_demo/crew.h"
#include "perp_demo/provision.h"

enum { SERVER_MORE = 5, SERVER_DATA_MAX = 8, SERVER_URL_MAX = 256 };

struct server {
    const char *bin;               /* the folder with the program perpd */
    const char *folder;            /* its data, markets and log are here */
    const char *topology;          /* NULL: its default */
    char data[SERVER_DATA_MAX];    /* the folder of its data in `folder`, and the name of its log;
                                      "": data and perpd */
    const char *more[SERVER_MORE]; /* options, up to the first NULL */
    char vault[PROVISION_PATH_MAX + 64]; /* one of them, of a node of a cluster */
    uint16_t port, admin_port;
    char url[SERVER_URL_MAX]; /* of a cluster: all, with commas between */
    char admin_url[64];
    char console_url[64];  /* of the web console: browsers give passkeys to localhost alone */
    char operator_url[64]; /* of the operator's page */
    bool ready;            /* it leads, or is alone */
    bool stands_by;        /* of a cluster */
};

/* The first port from `from` on that is free now and that the kernel does not give to others at any
 * time; 0: none is. */
CC_MUST_USE uint16_t server_free_port(uint32_t from);

void server_set_ports(struct server *server, uint16_t port, uint16_t admin_port);

/* Draws the ports: `wanted` for the public one when it is free, 0 for any. */
void server_choose_ports(struct server *server, uint16_t wanted);

/* Starts perpd as `member`. False: a message was printed. */
CC_MUST_USE bool server_launch(const struct server *server, struct crew_member *member,
                               const struct provision *provision);

/* Shows the end of its log on standard error. */
void server_show_log(const struct server *server);

/* Starts perpd as `member` and waits until it says that it is ready, or *interrupted is set. False:
 * a message was printed. */
CC_MUST_USE bool server_start(struct server *server, struct crew_member *member,
                              const struct provision *provision,
                              const volatile sig_atomic_t *interrupted);

#endif
