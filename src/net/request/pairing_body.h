/* pairing_body.h - what a request of a device pairing brings: the keys of the new device, the text
 * for it, or the token of a new pairing (interface.md, wire.md W7, json.md J3). Net thread. */
#ifndef NET_REQUEST_PAIRING_BODY_H
#define NET_REQUEST_PAIRING_BODY_H

#include "base/query_message.h"
#include "net/conn/net_config.h"
#include "net/http/problem_detail.h"

struct pairing_body {
    char bytes[QUERY_PAIRING_TEXT_MAX];
    uint32_t count;
};

/* Whether a query of this kind brings something. */
static inline bool pairing_body_is_brought(uint16_t kind)
{
    return kind == QUERY_pairing_open || kind == QUERY_pairing_deposit ||
           kind == QUERY_pairing_complete;
}

/* Fills *made from the JSON body: for a deposit with the 97 bytes of both keys, for a completion
 * with the Base64 text, for a new pairing with the 32 random bytes of its token, whose hash goes to
 * *query beside the random bytes of the id. False with malformed_payload in *problem, or not_ready
 * without random bytes. The caller wipes *made. */
CC_MUST_USE bool pairing_body_read(const struct net_config *config, const char *text, size_t count,
                                   struct query *query, struct pairing_body *made,
                                   struct problem_detail *problem);

#endif
