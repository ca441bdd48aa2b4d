/* json_typed_data.h - the typed data that a wallet shows and signs, ready for eth_signTypedData_v4
 * (wire.md W4, json.md J6). Net thread. */
#ifndef NET_JSON_JSON_TYPED_DATA_H
#define NET_JSON_JSON_TYPED_DATA_H

#include "net/conn/context.h"
#include "net/http/writer.h"

/* {"name":..,"version":..,"salt":..}: the domain of this exchange. */
void json_typed_data_domain(const struct net_config *config, struct writer *writer);

/* The types of a signable request type. */
void json_typed_data_types(const struct net_config *config, uint16_t code, struct writer *writer);

/* The filled typed data of a payload that eip712_hash took, with its hashes. */
void json_typed_data_preview(const struct context *context, const uint8_t *payload, size_t count,
                             const struct eip712_hashes *hashes, struct writer *writer);

#endif
