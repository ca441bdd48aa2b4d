#include "perp/invocation/arguments.h"

#include "base/text.h"
#include "perp/invocation/exit_code.h"

enum { NEAREST_MAX = 4 };

struct flag_row {
    const char *name, *value, *initial, *help;
};

static const struct flag_row flag_rows[] = {
#define X(name, value, initial, help) { #name, value, initial, help },
    SETTINGS_LIST(X)
#undef X
#define X(name, value, help) { #name, value, NULL, help },
        FLAG_LIST(X)
#undef X
};

/* The flags of every command. */
#define FLAGS_COMMON                                                                   \
    (FLAG(help) | FLAG(output) | FLAG(config) | FLAG(profile) | FLAG(url) | FLAG(ca) | \
     FLAG(timeout_ms))

static const char bare_suffix[] = "_bare";

/* session_key -> session-key, market_bare -> market. */
static void flag_text(enum flag flag, char text[ARGUMENTS_NAME_MAX])
{
    const char *name = flag_rows[flag].name;
    size_t i, count = strlen(name), tail = sizeof bare_suffix - 1;
    if (count > tail && strcmp(name + count - tail, bare_suffix) == 0)
        count -= tail;
    for (i = 0; i < count && i + 1 < ARGUMENTS_NAME_MAX; i++)
        text[i] = name[i] == '_' ? '-' : name[i];
    text[i] = '\0';
}

static bool flag_is(enum flag flag, const char *text, size_t count)
{
    char name[ARGUMENTS_NAME_MAX];
    flag_text(flag, name);
    return strlen(name) == count && strncmp(name, text, count) == 0;
}

static enum arguments_result unknown_flag(const char *text, size_t count, char *error)
{
    char wanted[ARGUMENTS_NAME_MAX], name[ARGUMENTS_NAME_MAX];
    int nearest = -1;
    unsigned distance = NEAREST_MAX;
    snprintf(wanted, sizeof wanted, "%.*s", (int)count, text);
    if (strcmp(wanted, "version") == 0) {
        snprintf(error, ARGUMENTS_ERROR_MAX, "--version stands alone: perp --version");
        return ARGUMENTS_WRONG;
    }
    for (int i = 0; i < FLAG_COUNT; i++) {
        flag_text((enum flag)i, name);
        unsigned candidate = text_distance(name, wanted, NEAREST_MAX);
        if (candidate < distance) {
            nearest = i;
            distance = candidate;
        }
    }
    if (nearest >= 0)
        flag_text((enum flag)nearest, name);
    snprintf(error, ARGUMENTS_ERROR_MAX, "unknown flag --%s%s%s%s", wanted,
             nearest >= 0 ? "; did you mean --" : "", nearest >= 0 ? name : "",
             nearest >= 0 ? "?" : "");
    return ARGUMENTS_WRONG;
}

/* The number of words of `command` with which `words` begin; 0: another command. */
static uint32_t match(const struct command_row *command, const char *const *words, uint32_t count)
{
    const char *space = strchr(command->words, ' ');
    size_t first = space != NULL ? (size_t)(space - command->words) : strlen(command->words);
    if (count == 0 || strlen(words[0]) != first || strncmp(words[0], command->words, first) != 0)
        return 0;
    if (space == NULL)
        return 1;
    return count >= 2 && strcmp(words[1], space + 1) == 0 ? 2 : 0;
}

/* Finds the row of a flag's name; of two rows, the one that the command accepts. */
static int find_flag(const struct arguments *arguments, const char *name, size_t count)
{
    const struct command_row *table = arguments->table;
    flag_set taken = 0;
    int found = FLAG_COUNT;
    for (size_t i = 0; i < arguments->table_count && taken == 0; i++) {
        if (match(&table[i], arguments->words, arguments->word_count) > 0)
            taken = table[i].flags;
    }
    for (int flag = 0; flag < FLAG_COUNT; flag++) {
        if (flag_is((enum flag)flag, name, count) &&
            (found == FLAG_COUNT || (taken >> flag & 1) != 0))
            found = flag;
    }
    return found;
}

/* Parses a word that begins with '-'. If the flag needs a value, that may be `next`. */
static enum arguments_result parse_flag(struct arguments *arguments, const char *word,
                                        const char *next, bool *used_next, char *error)
{
    const char *name = word + 2, *value = NULL;
    size_t count;
    int flag;
    if (strcmp(word, "-h") == 0)
        name = "help";
    else if (strcmp(word, "-o") == 0)
        name = "output";
    else if (word[1] != '-') {
        snprintf(error, ARGUMENTS_ERROR_MAX, "unknown flag %.40s; the short ones are -o and -h",
                 word);
        return ARGUMENTS_WRONG;
    }
    count = strcspn(name, "=");
    if (name[count] == '=')
        value = name + count + 1;
    flag = find_flag(arguments, name, count);
    if (flag == FLAG_COUNT)
        return unknown_flag(name, count, error);
    *used_next = false;
    if (flag_rows[flag].value != NULL && value == NULL) {
        if (next == NULL) {
            snprintf(error, ARGUMENTS_ERROR_MAX, "%.40s needs a value: %s %s", word, word,
                     flag_rows[flag].value);
            return ARGUMENTS_WRONG;
        }
        value = next;
        *used_next = true;
    } else if (flag_rows[flag].value == NULL && value != NULL) {
        snprintf(error, ARGUMENTS_ERROR_MAX, "--%.*s takes no value", (int)count, name);
        return ARGUMENTS_WRONG;
    }
    arguments->values[flag] = value != NULL ? value : "";
    return ARGUMENTS_OK;
}

static enum arguments_result unknown_command(const struct arguments *arguments, char *error)
{
    const char *const *words = arguments->words;
    char wanted[ARGUMENTS_NAME_MAX * 2];
    const struct command_row *nearest = NULL;
    unsigned distance = NEAREST_MAX;
    size_t count = arguments->table_count, at;
    const struct command_row *table = arguments->table;
    size_t first = strlen(words[0]);
    at = (size_t)snprintf(error, ARGUMENTS_ERROR_MAX, "%.40s what? There is:", words[0]);
    size_t bare = at;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(table[i].words, words[0], first) == 0 && table[i].words[first] == ' ')
            at += (size_t)snprintf(error + at, ARGUMENTS_ERROR_MAX - at, " perp %s%s",
                                   table[i].words, ";");
    }
    if (at > bare) {
        error[at - 1] = '\0';
        return ARGUMENTS_WRONG;
    }
    snprintf(wanted, sizeof wanted, "%.30s%s%.30s", words[0], arguments->word_count > 1 ? " " : "",
             arguments->word_count > 1 ? words[1] : "");
    for (size_t i = 0; i < count; i++) {
        unsigned whole = text_distance(table[i].words, wanted, NEAREST_MAX);
        unsigned single = text_distance(table[i].words, words[0], NEAREST_MAX);
        unsigned candidate = whole < single ? whole : single;
        if (candidate < distance) {
            nearest = &table[i];
            distance = candidate;
        }
    }
    snprintf(error, ARGUMENTS_ERROR_MAX, "unknown command '%.40s'%s%s%s (perp --help lists them)",
             words[0], nearest != NULL ? "; did you mean 'perp " : "",
             nearest != NULL ? nearest->words : "", nearest != NULL ? "'?" : "");
    return ARGUMENTS_WRONG;
}

/* The index-th word of a list of words separated by blanks. */
static const char *word_at(const char *list, uint32_t index, size_t *count)
{
    while (*list != '\0') {
        *count = strcspn(list, " ");
        if (index-- == 0)
            return list;
        list += *count;
        list += strspn(list, " ");
    }
    return NULL;
}

static enum arguments_result check_words(const struct arguments *arguments, char *error)
{
    const struct command_row *command = arguments->command;
    size_t count = 0;
    const char *name = word_at(command->positionals, arguments->word_count, &count);
    if (name != NULL && name[0] != '[') {
        snprintf(error, ARGUMENTS_ERROR_MAX, "%.*s is missing: perp %s %s", (int)count, name,
                 command->words, command->positionals);
        return ARGUMENTS_WRONG;
    }
    uint32_t most = 0;
    while (word_at(command->positionals, most, &count) != NULL)
        most++;
    if (arguments->word_count > most) {
        snprintf(error, ARGUMENTS_ERROR_MAX, "'%.60s' is one word too many: perp %s%s%s",
                 arguments->words[most], command->words, most > 0 ? " " : "", command->positionals);
        return ARGUMENTS_WRONG;
    }
    return ARGUMENTS_OK;
}

static enum arguments_result check_flags(struct arguments *arguments, char *error)
{
    flag_set known = arguments_flags(arguments->command);
    char name[ARGUMENTS_NAME_MAX];
    for (int flag = 0; flag < FLAG_COUNT; flag++) {
        if (arguments->values[flag] == NULL || (known >> flag & 1) != 0)
            continue;
        flag_text((enum flag)flag, name);
        snprintf(error, ARGUMENTS_ERROR_MAX, "perp %s does not take --%s: perp %s --help",
                 arguments->command->words, name, arguments->command->words);
        return ARGUMENTS_WRONG;
    }
    const char *output = arguments->values[FLAG_output];
    arguments->json = output != NULL && strcmp(output, "json") == 0;
    if (output != NULL && !arguments->json && strcmp(output, "table") != 0) {
        snprintf(error, ARGUMENTS_ERROR_MAX, "-o '%.40s' is neither table nor json", output);
        return ARGUMENTS_WRONG;
    }
    return ARGUMENTS_OK;
}

/* Finds the command that the words name, and removes its words. */
static enum arguments_result find_command(struct arguments *arguments, char *error)
{
    size_t count = arguments->table_count;
    const struct command_row *table = arguments->table;
    for (size_t i = 0; i < count; i++) {
        uint32_t taken = match(&table[i], arguments->words, arguments->word_count);
        if (taken == 0)
            continue;
        arguments->command = &table[i];
        arguments->word_count -= taken;
        memmove(arguments->words, arguments->words + taken,
                arguments->word_count * sizeof arguments->words[0]);
        return ARGUMENTS_OK;
    }
    return unknown_command(arguments, error);
}

enum arguments_result arguments_parse(struct arguments *arguments, const struct command_row *table,
                                      size_t table_count, int argc, char **argv,
                                      char error[ARGUMENTS_ERROR_MAX])
{
    bool only_words = false, used_next = false;
    *arguments = (struct arguments){ .table = table, .table_count = table_count };
    error[0] = '\0';
    for (int i = 1; i < argc; i++) {
        if (!only_words && strcmp(argv[i], "--") == 0) {
            only_words = true;
        } else if (!only_words && argv[i][0] == '-' && argv[i][1] != '\0') {
            enum arguments_result result =
                parse_flag(arguments, argv[i], argv[i + 1], &used_next, error);
            if (result != ARGUMENTS_OK)
                return result;
            i += used_next;
        } else if (arguments->word_count == ARGUMENTS_WORDS_MAX) {
            snprintf(error, ARGUMENTS_ERROR_MAX, "too many words, from '%.60s' on", argv[i]);
            return ARGUMENTS_WRONG;
        } else {
            arguments->words[arguments->word_count++] = argv[i];
        }
    }
    bool help = arguments_has(arguments, FLAG_help);
    if (arguments->word_count > 0 && strcmp(arguments->words[0], "help") == 0) {
        help = true;
        memmove(arguments->words, arguments->words + 1,
                --arguments->word_count * sizeof arguments->words[0]);
    }
    if (arguments->word_count == 0 && help)
        return ARGUMENTS_HELP;
    if (arguments->word_count == 0) {
        snprintf(error, ARGUMENTS_ERROR_MAX, "which command? perp --help lists them");
        return ARGUMENTS_WRONG;
    }
    enum arguments_result result = find_command(arguments, error);
    if (result == ARGUMENTS_OK && help)
        return ARGUMENTS_HELP;
    if (result == ARGUMENTS_OK)
        result = check_flags(arguments, error);
    return result == ARGUMENTS_OK ? check_words(arguments, error) : result;
}

void arguments_flag(struct arguments_flag *row, enum flag flag)
{
    const struct flag_row *from = &flag_rows[flag];
    *row = (struct arguments_flag){
        .value = from->value,
        .initial = from->initial != NULL ? from->initial : "",
        .help = from->help,
    };
    flag_text(flag, row->name);
}

flag_set arguments_flags(const struct command_row *command)
{
    return FLAGS_COMMON | (command != NULL ? command->flags : 0);
}

static void help_flag(FILE *out, enum flag flag)
{
    char name[ARGUMENTS_NAME_MAX], left[ARGUMENTS_NAME_MAX * 2];
    const struct flag_row *row = &flag_rows[flag];
    flag_text(flag, name);
    snprintf(left, sizeof left, "--%s%s%s", name, row->value != NULL ? " " : "",
             row->value != NULL ? row->value : "");
    fprintf(out, "  %-26s %s", left, row->help);
    if (row->initial != NULL && row->initial[0] != '\0')
        fprintf(out, "; default %s", row->initial);
    fprintf(out, "\n");
}

static void help_all(FILE *out, const struct arguments *arguments)
{
    size_t count = arguments->table_count;
    const struct command_row *table = arguments->table;
    fprintf(out, "perp - trades on perpd: signs requests, sends them and shows the answers.\n\n"
                 "usage: perp COMMAND [WORDS] [--flags]        perp COMMAND --help\n"
                 "       perp --version\n\ncommands\n");
    for (size_t i = 0; i < count; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s%s%s", table[i].words,
                 table[i].positionals[0] != '\0' ? " " : "", table[i].positionals);
        fprintf(out, "  %-31s %s%s\n", left, strlen(left) > 30 ? " " : "", table[i].summary);
    }
    fprintf(out, "\nflags of every command\n");
    for (int flag = 0; flag < FLAG_COUNT; flag++) {
        if ((FLAGS_COMMON >> flag & 1) != 0)
            help_flag(out, (enum flag)flag);
    }
    fprintf(out, "\nsettings: as flag, environment variable PERP_<NAME>, or 'name = value' in a "
                 "profile\n");
    for (int flag = 0; flag < SETTINGS_COUNT; flag++)
        help_flag(out, (enum flag)flag);
    fprintf(out, "\nexit codes\n");
#define X(name, code, help) fprintf(out, "  %d  %s\n", code, help);
    EXIT_CODE_LIST(X)
#undef X
}

void arguments_help(FILE *out, const struct arguments *arguments)
{
    const struct command_row *command = arguments->command;
    if (command == NULL) {
        help_all(out, arguments);
        return;
    }
    fprintf(out, "perp %s%s%s - %s\n", command->words, command->positionals[0] != '\0' ? " " : "",
            command->positionals, command->summary);
    if (command->text[0] != '\0')
        fprintf(out, "\n%s\n", command->text);
    fprintf(out, "\nflags\n");
    for (int flag = 0; flag < FLAG_COUNT; flag++) {
        if ((arguments_flags(command) >> flag & 1) != 0)
            help_flag(out, (enum flag)flag);
    }
}
