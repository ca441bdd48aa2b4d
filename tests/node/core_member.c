#include "core_member.h"

#include "check.h"
#include "crypto/derive.h"

enum { BTC = 1 };

#define OK STATUS_request_completed

const uint8_t core_member_operator[32] = {
    0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11,
    0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11,
};

/* Into the ring of a net thread: nobody has taken it yet. Gives the id of a signed one. */
struct uuid core_member_send(const struct core_member_request *request)
{
    static struct rebuild_buffer buffer;
    static uint64_t ids = 1 << 30;
    struct command *command = (struct command *)(void *)buffer.bytes;
    uint8_t random[10] = { 0 }, *to = command->bytes;

    memset(&buffer, 0, sizeof buffer);
    cc_store64(random, ++ids);
    struct uuid id = uuid_make_v7(clock_now_ns(&core_rig.clock) / 1000000, random);
    bool is_signed = request->key != NULL;
    uint32_t body_at = is_signed ? REQUEST_BODY_AT : 0;
    command->code = request->code;
    command->kind = is_signed ? COMMAND_SIGNED : COMMAND_UNSIGNED;
    command->payload_bytes = (uint16_t)(body_at + request->body_bytes);
    command->key_bytes = (uint16_t)request->key_bytes;
    command->extra_bytes = request->secret_hash != NULL ? SECRET_HASH_BYTES : 0;
    if (is_signed) {
        to[0] = REQUEST_VERSION;
        to[1] = request->key_bytes == 33 ? SIGNATURE_SECP256K1 : SIGNATURE_ED25519;
        cc_store16(to + 2, request->code);
        memcpy(to + REQUEST_HEADER_BYTES, id.bytes, sizeof id.bytes);
        memcpy(to + command->payload_bytes, request->key, request->key_bytes);
    }
    memcpy(to + body_at, request->body, request->body_bytes);
    if (request->secret_hash != NULL)
        memcpy(to + command->payload_bytes + command->key_bytes + SIGNATURE_BYTES,
               request->secret_hash, SECRET_HASH_BYTES);
    command->slot_count =
        (uint16_t)command_slots(command_bytes(command) - (uint32_t)sizeof *command);
    derive_command(command, mix_key_load(core_rig.core.exchange.hash_key));
    memcpy(ring_claim(&core_rig.links[0].commands, command->slot_count), command,
           command_bytes(command));
    ring_publish(&core_rig.links[0].commands);
    return id;
}

/* What the matcher answers to the oldest command, within `turns` turns of it. */
struct answer core_member_answer(uint32_t turns)
{
    struct answer answer;

    for (uint32_t i = 0; i < turns && ring_ready(&core_rig.links[0].answers) == 0; i++)
        (void)core_match(&core_rig.core);
    CHECK(ring_ready(&core_rig.links[0].answers) == 1);
    memcpy(&answer, ring_at(&core_rig.links[0].answers, 0), sizeof answer);
    ring_release(&core_rig.links[0].answers, 1);
    return answer;
}

struct answer core_member_act(uint16_t code, const uint8_t *body, uint32_t body_bytes,
                              const uint8_t *key, uint32_t key_bytes)
{
    (void)core_member_send(
        &(struct core_member_request){ code, body, body_bytes, key, key_bytes, NULL });
    return core_member_answer(1);
}

void core_member_join(struct core_member *member, uint8_t number)
{
    uint8_t seed[32] = { number, 7 }, account[80] = { 0 }, key[48] = { 0 }, deposit[56] = { 0 };
    uint8_t hash[HASH_BYTES];

    member->secret[0] = 1;
    member->secret[31] = number;
    CHECK(signer_secp256k1_key(member->secret, member->master));
    signer_ed25519(&member->session, seed);
    memcpy(account, member->session.key, 32);
    struct answer answer = core_member_act(REQUEST_create_account_secp256k1, account,
                                           sizeof account, member->master, 33);
    CHECK(answer.status == STATUS_account_created_with_session);
    member->id = answer.account_id;
    cc_store64(key, member->id);
    cc_store32(key + 8, UINT32_MAX); /* not pinned */
    key[12] = 1;                     /* READ_WRITE */
    memset(member->api_secret, number, sizeof member->api_secret);
    secret_hash(hash, core_rig.core.exchange.secret_key, member->api_secret);
    (void)core_member_send(&(struct core_member_request){ REQUEST_create_api_key, key, sizeof key,
                                                          member->master, 33, hash });
    answer = core_member_answer(1);
    CHECK(answer.status == OK);
    memcpy(member->api_key, answer.id, sizeof member->api_key);
    cc_store64(deposit, member->id);
    cc_store64(deposit + 16, UINT64_C(1000000000000));
    deposit[24] = number;
    CHECK(core_member_act(REQUEST_deposit_credit, deposit, sizeof deposit, core_member_operator, 32)
              .status == OK);
}

void core_member_publish(uint64_t price)
{
    uint8_t body[24] = { 0 };

    cc_store64(body, clock_now_ns(&core_rig.clock));
    cc_store64(body + 8, price);
    cc_store16(body + 16, BTC);
    cc_store16(body + 20, 1);
    CHECK(
        core_member_act(REQUEST_oracle_price, body, sizeof body, core_member_operator, 32).status ==
        OK);
}

struct uuid core_member_order(const struct core_member *member, uint64_t price, int64_t quantity)
{
    uint8_t body[48] = { 0 };

    cc_store64(body, member->id);
    cc_store64(body + 16, price);
    cc_store64(body + 24, (uint64_t)quantity);
    cc_store64(body + 32, UINT64_MAX);
    cc_store16(body + 44, BTC);
    struct uuid id = core_member_send(&(struct core_member_request){
        REQUEST_place_limit_order, body, sizeof body, member->session.key, 32, NULL });
    CHECK(core_member_answer(1).status == OK);
    return id;
}
