/* orders.c - `perp bench run` for signed limit orders as binary frames, with the options that this
 * program has always had.
 *
 * `perf-orders [--connections N] [--seconds S] [--rate R] [--durability local|none] [--accounts A]
 *              [--topology auto|shared|dedicated] [--net-threads N] [--spin auto|on|off] [--core C]
 *              [--verify auto|lanes|comb|library] [--perpd PATH] [--beside COMMAND]`
 *
 * Without --rate the loop is closed: one request in flight a connection. It prints the JSON of
 * `perp bench run -o json`, and ends with its exit code. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/version.h"

enum { WORDS_MAX = 40, TEXT_BYTES = 512 };

static const struct option option_names[] = {
    { "connections", required_argument, NULL, 'c' }, { "seconds", required_argument, NULL, 's' },
    { "rate", required_argument, NULL, 'r' },        { "durability", required_argument, NULL, 'd' },
    { "accounts", required_argument, NULL, 'a' },    { "topology", required_argument, NULL, 't' },
    { "net-threads", required_argument, NULL, 'n' }, { "spin", required_argument, NULL, 'S' },
    { "verify", required_argument, NULL, 'V' },      { "core", required_argument, NULL, 'C' },
    { "perpd", required_argument, NULL, 'p' },       { "beside", required_argument, NULL, 'b' },
    { "version", no_argument, NULL, 'v' },           { NULL, 0, NULL, 0 },
};

struct words {
    const char *argv[WORDS_MAX];
    size_t count;
    char set[TEXT_BYTES]; /* options of perpd, with commas between them */
};

static void add(struct words *words, const char *flag, const char *value)
{
    words->argv[words->count++] = flag;
    if (value != NULL)
        words->argv[words->count++] = value;
}

static void add_option(struct words *words, const char *key, const char *value)
{
    size_t used = strlen(words->set);

    if (used + strlen(key) + strlen(value) + 3 > sizeof words->set) {
        fprintf(stderr, "perf-orders: '%.60s' is too long\n", value);
        exit(2);
    }
    snprintf(words->set + used, sizeof words->set - used, "%s%s=%s", used > 0 ? "," : "", key,
             value);
}

/* Returns the rate; NULL: none was given. */
static const char *read_words(struct words *words, int argc, char **argv)
{
    const char *rate = NULL;

    for (int name; (name = getopt_long(argc, argv, "", option_names, NULL)) != -1;) {
        switch (name) {
        case 'c':
            add(words, "--connections", optarg);
            break;
        case 's':
            add(words, "--seconds", optarg);
            break;
        case 'r':
            rate = optarg;
            break;
        case 'd':
            add(words, "--durability", optarg);
            break;
        case 'a':
            add(words, "--accounts", optarg);
            break;
        case 't':
            add_option(words, "node.topology", optarg);
            break;
        case 'n':
            add_option(words, "net.threads", optarg);
            break;
        case 'S':
            add_option(words, "engine.spin", optarg);
            break;
        case 'C':
            add_option(words, "engine.core", optarg);
            break;
        case 'V':
            add_option(words, "crypto.verify", optarg);
            break;
        case 'p':
            add(words, "--perpd", optarg);
            break;
        case 'b':
            add(words, "--beside", optarg);
            break;
        case 'v':
            printf("perf-orders %s\n", version_text);
            exit(0);
        default:
            exit(2); /* getopt_long said what is wrong */
        }
        if (words->count > WORDS_MAX - 12) {
            fprintf(stderr, "perf-orders: too many options\n");
            exit(2);
        }
    }
    if (optind < argc) {
        fprintf(stderr, "perf-orders: '%.60s' is one word too many\n", argv[optind]);
        exit(2);
    }
    return rate;
}

int main(int argc, char **argv)
{
    static struct words words;
    char perp[TEXT_BYTES];

    add(&words, "perp", NULL);
    add(&words, "bench", "run");
    add(&words, "--binary", NULL);
    add(&words, "--warm-up", "0");
    const char *rate = read_words(&words, argc, argv);
    add(&words, rate != NULL ? "--rate" : "--schedule", rate != NULL ? rate : "closed");
    if (words.set[0] != '\0')
        add(&words, "--set", words.set);
    add(&words, "-o", "json");
    ssize_t got = readlink("/proc/self/exe", perp, sizeof perp - sizeof "perp");
    char *end = NULL;
    if (got > 0) {
        perp[got] = '\0';
        end = strrchr(perp, '/');
    }
    if (end != NULL)
        snprintf(end + 1, sizeof "perp", "perp");
    execv(end != NULL ? perp : "perp", (char *const *)words.argv);
    perror("perf-orders: perp, beside this program");
    return 2;
}
