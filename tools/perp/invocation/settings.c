#include "perp/invocation/settings.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

enum { FILE_MAX = 1 << 16, NEAREST_MAX = 4 };

static const struct {
    const char *name, *environment, *initial;
} rows[] = {
#define X(name, value, initial, help) { #name, "PERP_" #name, initial },
    SETTINGS_LIST(X)
#undef X
};

const char *settings_name(enum setting setting)
{
    return rows[setting].name;
}

/* PERP_session_key -> PERP_SESSION_KEY, then its value. */
static const char *environment(const char *name)
{
    char upper[64];
    size_t i;
    for (i = 0; name[i] != '\0' && i + 1 < sizeof upper; i++)
        upper[i] = name[i] >= 'a' && name[i] <= 'z' ? (char)(name[i] - 32) : name[i];
    upper[i] = '\0';
    const char *value = getenv(upper);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static bool set(struct settings *settings, size_t index, const char *value, const char *from)
{
    if (strlen(value) >= SETTINGS_VALUE_MAX)
        return false;
    memcpy(settings->values[index], value, strlen(value) + 1);
    settings->from[index] = from;
    return true;
}

struct reader {
    struct settings *settings;
    char *error;
    bool section_found;
};

static int parse_line(void *user, const char *section, const char *name, const char *value)
{
    struct reader *reader = user;
    const char *nearest = NULL;
    unsigned distance = NEAREST_MAX;
    if (strcmp(section, reader->settings->profile) != 0)
        return 1;
    reader->section_found = true;
    for (size_t i = 0; i < SETTINGS_COUNT; i++) {
        if (strcmp(rows[i].name, name) == 0)
            return set(reader->settings, i, value, "profile");
        unsigned candidate = text_distance(rows[i].name, name, NEAREST_MAX);
        if (candidate < distance) {
            distance = candidate;
            nearest = rows[i].name;
        }
    }
    snprintf(reader->error, SETTINGS_ERROR_MAX, "unknown setting '%.60s'%s%s%s", name,
             nearest != NULL ? "; did you mean '" : "", nearest != NULL ? nearest : "",
             nearest != NULL ? "'?" : "");
    return 0;
}

/* The configuration file's path; *named: the user named this file. */
static bool find_file(struct settings *settings, const char *config, bool *named)
{
    const char *path = config != NULL ? config : environment("PERP_CONFIG");
    const char *base = environment("XDG_CONFIG_HOME");
    const char *home = environment("HOME");
    int count;
    *named = path != NULL;
    if (path != NULL)
        count = snprintf(settings->config_path, sizeof settings->config_path, "%s", path);
    else if (base != NULL)
        count =
            snprintf(settings->config_path, sizeof settings->config_path, "%s/perp/config", base);
    else
        count = snprintf(settings->config_path, sizeof settings->config_path,
                         "%s/.config/perp/config", home != NULL ? home : ".");
    return (size_t)count < sizeof settings->config_path;
}

static bool read_file(struct settings *settings, bool may_lack_file, bool may_lack_profile,
                      char *error)
{
    char wrong[SETTINGS_ERROR_MAX] = "";
    struct reader reader = { .settings = settings, .error = wrong };
    FILE *file = fopen(settings->config_path, "re");
    if (file == NULL && may_lack_file && (errno == ENOENT || errno == ENOTDIR))
        return true;
    int line = file != NULL ? ini_parse_file(file, parse_line, &reader) : -1;
    bool is_read = file != NULL && ferror(file) == 0;
    if (file != NULL)
        fclose(file);
    if (!is_read)
        snprintf(error, SETTINGS_ERROR_MAX, "cannot read %s", settings->config_path);
    else if (line != 0)
        snprintf(error, SETTINGS_ERROR_MAX, "%.4096s:%d: %.600s", settings->config_path,
                 line < 0 ? 0 : line, wrong[0] != '\0' ? wrong : "this is no 'name = value' line");
    else if (!reader.section_found && !may_lack_profile)
        snprintf(error, SETTINGS_ERROR_MAX, "%.4096s has no profile [%s]", settings->config_path,
                 settings->profile);
    else
        return true;
    return false;
}

bool settings_load(struct settings *settings, const char *const flags[SETTINGS_COUNT],
                   const char *config, const char *profile, bool saves,
                   char error[SETTINGS_ERROR_MAX])
{
    bool named;
    const char *section = profile != NULL ? profile : environment("PERP_PROFILE");
    *settings = (struct settings){ 0 };
    snprintf(settings->profile, sizeof settings->profile, "%s",
             section != NULL ? section : "default");
    for (size_t i = 0; i < SETTINGS_COUNT; i++)
        (void)set(settings, i, rows[i].initial, "default");
    if (!find_file(settings, config, &named)) {
        snprintf(error, SETTINGS_ERROR_MAX, "the path of the configuration file is too long");
        return false;
    }
    bool is_default = strcmp(settings->profile, "default") == 0;
    if (!read_file(settings, saves || !named, saves || is_default, error))
        return false;
    for (size_t i = 0; i < SETTINGS_COUNT; i++) {
        const char *value = environment(rows[i].environment);
        if ((value != NULL && !set(settings, i, value, "environment")) ||
            (flags[i] != NULL && !set(settings, i, flags[i], "flag"))) {
            snprintf(error, SETTINGS_ERROR_MAX, "the value of %s is too long", rows[i].name);
            return false;
        }
    }
    return true;
}

/* Makes the folders above a path, as mkdir -p does. */
static void make_folders(const char *path)
{
    char text[SETTINGS_VALUE_MAX];
    snprintf(text, sizeof text, "%s", path);
    for (char *slash = strchr(text + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(text, 0700);
        *slash = '/';
    }
}

static bool line_is(const char *line, const char *name)
{
    size_t at = strspn(line, " \t"), count = strlen(name);
    if (strncmp(line + at, name, count) != 0)
        return false;
    at += count + strspn(line + at + count, " \t");
    return line[at] == '=' || line[at] == ':';
}

/* Copies the file's text with the setting's line put in its section. */
static void rewrite(FILE *out, const char *text, const char *section, const char *name,
                    const char *value)
{
    char heading[72];
    bool inside = false, done = false;
    snprintf(heading, sizeof heading, "[%s]", section);
    while (*text != '\0') {
        size_t count = strcspn(text, "\n");
        bool begins = text[0] == '[';
        if (begins && inside && !done) {
            fprintf(out, "%s = %s\n", name, value);
            done = true;
        }
        if (begins)
            inside = strncmp(text, heading, strlen(heading)) == 0;
        if (inside && !begins && line_is(text, name)) {
            if (!done)
                fprintf(out, "%s = %s\n", name, value);
            done = true;
        } else {
            fprintf(out, "%.*s\n", (int)count, text);
        }
        text += count + (text[count] == '\n');
    }
    if (!done && !inside)
        fprintf(out, "%s\n", heading);
    if (!done)
        fprintf(out, "%s = %s\n", name, value);
}

bool settings_save(const struct settings *settings, enum setting setting, const char *value,
                   char error[SETTINGS_ERROR_MAX])
{
    char *text = calloc(1, FILE_MAX), draft[SETTINGS_VALUE_MAX + 8];
    snprintf(draft, sizeof draft, "%s.XXXXXX", settings->config_path);
    make_folders(settings->config_path);
    FILE *in = fopen(settings->config_path, "re");
    bool good = text != NULL && (in != NULL || errno == ENOENT);
    if (good && in != NULL)
        good = fread(text, 1, FILE_MAX - 1, in) < FILE_MAX - 1 && ferror(in) == 0;
    if (in != NULL)
        fclose(in);
    int fd = good ? mkostemp(draft, O_CLOEXEC) : -1;
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (out != NULL) {
        rewrite(out, text, settings->profile, rows[setting].name, value);
        good = fflush(out) == 0 && fsync(fd) == 0;
        good = fclose(out) == 0 && good && rename(draft, settings->config_path) == 0;
    }
    if (out == NULL || !good)
        snprintf(error, SETTINGS_ERROR_MAX, "cannot write %s: %s", settings->config_path,
                 strerror(errno));
    if (fd >= 0 && !good)
        unlink(draft);
    free(text);
    return out != NULL && good;
}

bool settings_save_path(const struct settings *settings, enum setting setting,
                        char error[SETTINGS_ERROR_MAX])
{
    char *path = realpath(settings->values[setting], NULL);
    bool good =
        settings_save(settings, setting, path != NULL ? path : settings->values[setting], error);

    free(path);
    return good;
}
