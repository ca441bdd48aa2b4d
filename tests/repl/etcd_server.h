/* etcd_server.h - etcd members on loopback for one test: started in a folder of their own. */
#ifndef TESTS_REPL_ETCD_SERVER_H
#define TESTS_REPL_ETCD_SERVER_H

#include "repl/link.h"

enum { ETCD_SERVER_MEMBERS = 3 };

struct etcd_server {
    char folder[64];
    int count;
    int ports[ETCD_SERVER_MEMBERS], peer_ports[ETCD_SERVER_MEMBERS];
    int processes[ETCD_SERVER_MEMBERS]; /* 0: not running */
    const char *quota;                  /* bytes of the database */
    const char *certificates; /* folder with ca.pem, server.pem, server.key; NULL: plain */
};

/* Whether the machine has etcd; prints one line if not. */
bool etcd_server_is_installed(void);

/* Starts `count` members. Ends the test if they do not come up. */
void etcd_server_start(struct etcd_server *server, int count, const char *quota,
                       const char *certificates);
void etcd_server_run(struct etcd_server *server, int member); /* (again) */
void etcd_server_kill(struct etcd_server *server, int member);
void etcd_server_signal(const struct etcd_server *server, int member, int signal_number);
/* Kills all and removes the folder. */
void etcd_server_stop(struct etcd_server *server);

void etcd_server_endpoint(const struct etcd_server *server, int member,
                          struct link_endpoint *endpoint);

#endif
