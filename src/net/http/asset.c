#include "net/http/asset.h"

#include "base/comma_list.h"
#include "base/text.h"

enum { TAG_BYTES_MAX = 24 };

static const char *const coding_names[ASSET_CODINGS] = {
    [ASSET_GZIP] = "gzip", [ASSET_BROTLI] = "br"
};
static const char *const tag_ends[ASSET_CODINGS] = { "", "-gz", "-br" };

/* The pages; every other file is an asset of one of them. */
static const char *const page_names[] = { "index.html", "operator.html" };

static int find(const char *name, size_t count)
{
    for (uint32_t i = 0; i < asset_count; i++)
        if (strlen(asset_table[i].name) == count && memcmp(asset_table[i].name, name, count) == 0)
            return (int)i;
    return -1;
}

static bool is_page(const struct asset *asset)
{
    return strcmp(asset->name, page_names[false]) == 0 ||
           strcmp(asset->name, page_names[true]) == 0;
}

int asset_find_page(bool admin)
{
    return find(page_names[admin], strlen(page_names[admin]));
}

int asset_find_file(const char *name, size_t count)
{
    int found = find(name, count);
    return found < 0 || is_page(&asset_table[found]) ? -1 : found;
}

/* The next element of a header's list that is not empty, without the white space around it. */
static bool next_element(struct comma_list *list, const char **element, size_t *count)
{
    while (comma_list_next(list, element, count)) {
        while (*count > 0 && (**element == ' ' || **element == '\t')) {
            ++*element;
            --*count;
        }
        while (*count > 0 && ((*element)[*count - 1] == ' ' || (*element)[*count - 1] == '\t'))
            --*count;
        if (*count > 0)
            return true;
    }
    return false;
}

/* Whether the parameters of an element refuse it: a q of zero, with decimals or none. */
static bool is_refused(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == ';'))
        at++;
    if (end - at < 3 || text_lower(*at) != 'q' || at[1] != '=' || at[2] != '0')
        return false;
    for (at += 3; at < end; at++)
        if (*at != '.' && *at != '0')
            return false;
    return true;
}

/* The coding of an element of Accept-Encoding; plain bytes if it names none or refuses the one. */
static enum asset_coding coding_of(const char *element, size_t count)
{
    const char *mark = memchr(element, ';', count);
    size_t name = mark == NULL ? count : (size_t)(mark - element);
    while (name > 0 && (element[name - 1] == ' ' || element[name - 1] == '\t'))
        name--;
    if (mark != NULL && is_refused(mark, element + count))
        return ASSET_PLAIN;
    for (unsigned coding = ASSET_GZIP; coding < ASSET_CODINGS; coding++)
        if (strlen(coding_names[coding]) == name &&
            text_is_equal_folded(element, coding_names[coding], name))
            return (enum asset_coding)coding;
    return ASSET_PLAIN;
}

/* The shortest coding that the list names. "*" names none: plain bytes suit everybody. */
static enum asset_coding choose_coding(const char *text, size_t count)
{
    struct comma_list list = comma_list_of(text, count);
    const char *element;
    enum asset_coding best = ASSET_PLAIN;
    size_t length;
    while (next_element(&list, &element, &length)) {
        enum asset_coding coding = coding_of(element, length);
        if (coding > best)
            best = coding;
    }
    return best;
}

static void write_tag(struct writer *writer, const struct asset_choice *choice)
{
    WRITER_TEXT(writer, "\"");
    writer_text(writer, asset_table[choice->number].hash);
    writer_text(writer, tag_ends[choice->coding]);
    WRITER_TEXT(writer, "\"");
}

/* Whether the list of If-None-Match names the chosen bytes. */
static bool names_tag(const struct asset_choice *choice, const char *text, size_t count)
{
    char tag[TAG_BYTES_MAX];
    struct writer writer = writer_begin(tag, sizeof tag);
    struct comma_list list = comma_list_of(text, count);
    const char *element;
    size_t length;
    write_tag(&writer, choice);
    while (next_element(&list, &element, &length)) {
        if (length > 2 && element[0] == 'W' && element[1] == '/') { /* a weak one matches too */
            element += 2;
            length -= 2;
        }
        if ((length == 1 && *element == '*') ||
            (length == writer_count(&writer) && memcmp(element, tag, length) == 0))
            return true;
    }
    return false;
}

struct asset_choice asset_choose(uint16_t number, const char *accepted, size_t accepted_count,
                                 const char *known, size_t known_count)
{
    struct asset_choice choice = { .number = number,
                                   .coding = (uint8_t)choose_coding(accepted, accepted_count) };
    choice.is_known = names_tag(&choice, known, known_count);
    return choice;
}

static void write_page_head(struct writer *head)
{
    WRITER_TEXT(head,
                "\r\nCache-Control: no-cache"
                "\r\nContent-Security-Policy: default-src 'none'; script-src 'self'; "
                "style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
                "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
                "trusted-types 'none'"
                "\r\nCross-Origin-Opener-Policy: same-origin"
                "\r\nPermissions-Policy: publickey-credentials-get=(self), "
                "publickey-credentials-create=(self), clipboard-write=(self), fullscreen=(self), "
                "camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=(), hid=(), "
                "bluetooth=()");
}

void asset_write_head(struct writer *head, const struct asset_choice *choice, bool tls)
{
    if (is_page(&asset_table[choice->number]))
        write_page_head(head);
    else
        WRITER_TEXT(head, "\r\nCache-Control: public, max-age=31536000, immutable");
    WRITER_TEXT(head, "\r\nETag: ");
    write_tag(head, choice);
    WRITER_TEXT(head, "\r\nVary: Accept-Encoding"
                      "\r\nCross-Origin-Embedder-Policy: require-corp"
                      "\r\nCross-Origin-Resource-Policy: same-origin"
                      "\r\nX-Content-Type-Options: nosniff"
                      "\r\nReferrer-Policy: no-referrer");
    if (tls)
        WRITER_TEXT(head, "\r\nStrict-Transport-Security: max-age=31536000");
    if (choice->coding == ASSET_PLAIN || choice->is_known)
        return;
    WRITER_TEXT(head, "\r\nContent-Encoding: ");
    writer_text(head, coding_names[choice->coding]);
}

struct asset_body asset_body(const struct asset_choice *choice)
{
    if (choice->is_known)
        return (struct asset_body){ 0 };
    return asset_table[choice->number].bodies[choice->coding];
}
