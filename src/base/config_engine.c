/* config_engine.c - the body of record 2013, written from the configuration. */
#include <errno.h>

#include "base/base64.h"
#include "base/config.h"
#include "base/hex.h"

enum { KEY_BYTES = 32 };

ptrdiff_t config_engine_text(const struct config *config, const uint8_t exchange_id[32],
                             const uint8_t *signing_public, uint8_t body[CONFIG_ENGINE_TEXT_MAX])
{
    char id[2 * KEY_BYTES + 1], public[BASE64_TEXT_BYTES(KEY_BYTES) + 1] = "";
    hex_encode(id, exchange_id, KEY_BYTES);
    if (signing_public != NULL)
        (void)base64_encode(public, signing_public, KEY_BYTES);
    memset(body, 0, CONFIG_ENGINE_TEXT_MAX);
    size_t used = 0;
    const char *before = "";
    for (;;) { /* the next key in text order: few enough keys for one search each */
        const struct option_row *next = NULL;
        enum option option = OPTION_COUNT;
        for (unsigned i = 0; i < OPTION_COUNT; i++) {
            const struct option_row *row = option_row(i);
            if (row->engine && row->built && strcmp(row->name, before) > 0 &&
                (next == NULL || strcmp(row->name, next->name) < 0)) {
                next = row;
                option = (enum option)i;
            }
        }
        if (next == NULL)
            return (ptrdiff_t)((used + 7) & ~(size_t)7);
        const char *text = option == OPTION_exchange_id               ? id
                           : option == OPTION_exchange_signing_public ? public
                           : next->type == OPTION_TYPE_SWITCH
                               ? (config_switch(config, option) ? "on" : "off")
                               : config_text(config, option);
        int count = snprintf((char *)body + used, CONFIG_ENGINE_TEXT_MAX - used, "%s=%s\n",
                             next->name, text);
        if (count < 0 || (size_t)count >= CONFIG_ENGINE_TEXT_MAX - used)
            return -E2BIG;
        used += (size_t)count;
        before = next->name;
    }
}
