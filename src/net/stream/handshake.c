#include "net/stream/handshake.h"

#include <openssl/evp.h>
#include <stdio.h>

#include "base/base64.h"
#include "base/text.h"
#include "net/request/api_caller.h"

enum { KEY_TEXT_BYTES = 24, KEY_BYTES = 16, DIGEST_BYTES = 20 };

/* Whether a comma-separated list has the word, ignoring case. */
static bool has_word(const char *list, size_t count, const char *word)
{
    const char *end = list + count;
    while (list < end) {
        const char *comma = memchr(list, ',', (size_t)(end - list));
        const char *stop = comma != NULL ? comma : end;
        const char *last = stop;
        while (list < last && (*list == ' ' || *list == '\t'))
            list++;
        while (last > list && (last[-1] == ' ' || last[-1] == '\t'))
            last--;
        if ((size_t)(last - list) == strlen(word) && text_is_equal_folded(list, word, strlen(word)))
            return true;
        list = stop + 1;
    }
    return false;
}

/* A page's origin is this host, or one that may read answers. Programs send none. */
static bool is_origin_allowed(const struct net_config *config, const struct http_head *head,
                              const char *text)
{
    return api_caller_is_own_page(head, text) ||
           (head->origin.count != 0 && origin_list_find(&config->origins, text + head->origin.at,
                                                        head->origin.count) != ORIGIN_NONE);
}

bool handshake_check(const struct net_config *config, const struct http_head *head,
                     const char *text, struct problem_detail *problem)
{
    uint8_t key[KEY_BYTES];
    if (head->minor != 1 || !head->asks_upgrade ||
        !has_word(text + head->upgrade.at, head->upgrade.count, "websocket"))
        return problem_detail_set(problem, PROBLEM_invalid_parameter, "Upgrade",
                                  "this path takes a WebSocket handshake: HTTP/1.1, Connection: "
                                  "Upgrade and Upgrade: websocket");
    if (head->ws_version.count != 2 || memcmp(text + head->ws_version.at, "13", 2) != 0)
        return problem_detail_set(problem, PROBLEM_invalid_parameter, "Sec-WebSocket-Version",
                                  "Sec-WebSocket-Version must be 13");
    if (head->ws_key.count != KEY_TEXT_BYTES ||
        base64_decode(key, sizeof key, text + head->ws_key.at, head->ws_key.count, NULL) !=
            KEY_BYTES)
        return problem_detail_set(problem, PROBLEM_invalid_parameter, "Sec-WebSocket-Key",
                                  "Sec-WebSocket-Key must be 16 bytes in Base64");
    if (!is_origin_allowed(config, head, text))
        return problem_detail_set(problem, PROBLEM_origin_not_allowed, NULL,
                                  "pages of this origin may not open a stream; an operator adds it "
                                  "to net.cors_origins");
    return true;
}

size_t handshake_answer(const struct http_head *head, const char *text,
                        char answer[HANDSHAKE_BYTES_MAX])
{
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    char joined[KEY_TEXT_BYTES + sizeof guid];
    unsigned char digest[EVP_MAX_MD_SIZE];
    char accept[BASE64_TEXT_BYTES(DIGEST_BYTES) + 1];
    memcpy(joined, text + head->ws_key.at, KEY_TEXT_BYTES);
    memcpy(joined + KEY_TEXT_BYTES, guid, sizeof guid);
    if (EVP_Digest(joined, sizeof joined - 1, digest, NULL, EVP_sha1(), NULL) != 1)
        return 0;
    (void)base64_encode(accept, digest, DIGEST_BYTES);
    int count = snprintf(
        answer, HANDSHAKE_BYTES_MAX,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n%s\r\n",
        accept, head->asks_binary ? "Sec-WebSocket-Protocol: " HTTP_BINARY_STREAM "\r\n" : "");
    INVARIANT(count > 0 && count < HANDSHAKE_BYTES_MAX);
    return (size_t)count;
}
