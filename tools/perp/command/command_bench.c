/* command_bench.c - measures an exchange: loads it by a fixed schedule, and signs the requests that
 * another load generator sends. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perp/bench/plot.h"
#include "perp/bench/sheet.h"
#include "perp/command/command.h"
#include "perp/invocation/choice.h"
#include "perp/request/instant.h"

enum { PATH_BYTES = 4096 };

static struct bench_settings settings;
static struct trial trial;

/* ---- the files of a run ---------------------------------------------------------------------- */

struct files {
    const char *folder; /* NULL: none are written */
    FILE *log;
};

static FILE *open_result(struct context *context, const char *folder, const char *name)
{
    char path[PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = length > 0 && (size_t)length < sizeof path ? fopen(path, "we") : NULL;

    if (out == NULL)
        (void)context_fail(context, EXIT_CODE_usage, "%s: %s", path, strerror(errno));
    return out;
}

static bool begin_files(struct context *context, struct files *files)
{
    *files = (struct files){ .folder = settings.results };
    if (files->folder == NULL)
        return true;
    if (mkdir(files->folder, 0777) != 0 && errno != EEXIST)
        return context_fail(context, EXIT_CODE_usage, "%s: %s", files->folder, strerror(errno));
    files->log = open_result(context, files->folder, "latency.hlog");
    if (files->log == NULL)
        return false;
    hdr_log_begin(files->log, instant_now_ns());
    return true;
}

/* Both histograms of a pass, as an interval each. */
static bool log_pass(struct context *context, const struct files *files, uint64_t begin_ns)
{
    uint64_t from_ns = trial.pass_unix_ns - begin_ns;
    uint64_t length_ns = instant_now_ns() - trial.pass_unix_ns;

    return files->log == NULL ||
           (hdr_log_write(&trial.latency, files->log, "latency", from_ns, length_ns) &&
            hdr_log_write(&trial.service, files->log, "service", from_ns, length_ns)) ||
           context_fail(context, EXIT_CODE_usage, "no memory for the histogram log");
}

static bool write_percentiles(struct context *context, const char *folder, const char *name,
                              const struct hdr *hdr)
{
    FILE *out = open_result(context, folder, name);

    if (out == NULL)
        return false;
    hdr_write_percentiles(hdr, out);
    return fclose(out) == 0 ||
           context_fail(context, EXIT_CODE_usage, "%s: %s", name, strerror(errno));
}

static bool write_sheet(struct context *context, const char *folder, const json_t *sheet)
{
    FILE *out = open_result(context, folder, "result.json");

    if (out == NULL)
        return false;
    bool is_written = json_dumpf(sheet, out, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) == 0;
    is_written = fputc('\n', out) != EOF && is_written;
    return (fclose(out) == 0 && is_written) ||
           context_fail(context, EXIT_CODE_usage, "result.json: %s", strerror(errno));
}

/* The log first: what is written last tells that all is there. */
static bool end_files(struct context *context, struct files *files, const json_t *sheet,
                      const struct hdr *latency, const struct hdr *service)
{
    char error[256];

    if (files->folder == NULL)
        return true;
    if (fclose(files->log) != 0)
        return context_fail(context, EXIT_CODE_usage, "latency.hlog: %s", strerror(errno));
    if (!write_percentiles(context, files->folder, "latency.hgrm", latency) ||
        !write_percentiles(context, files->folder, "service.hgrm", service))
        return false;
    if (!plot_write(sheet, files->folder, error))
        return context_fail(context, EXIT_CODE_usage, "%s", error);
    if (!plot_run(files->folder, error))
        fprintf(stderr, "bench: no pictures: %s\n", error);
    return write_sheet(context, files->folder, sheet);
}

/* ---- bench run ------------------------------------------------------------------------------- */

static void merge(struct hdr *into, const struct hdr *from)
{
    for (uint32_t i = 0; i < HDR_COUNTS; i++)
        into->counts[i] += from->counts[i];
    into->count += from->count;
    into->sum += from->sum;
    into->max = from->max > into->max ? from->max : into->max;
}

/* Steps of a ramp grow by the same factor. */
static double rate_of(uint32_t pass)
{
    if (settings.schedule.kind == SCHEDULE_closed)
        return 0;
    if (settings.steps == 1)
        return settings.schedule.rate_per_s;
    return settings.schedule.rate_per_s * pow(settings.ramp_to / settings.schedule.rate_per_s,
                                              (double)pass / (settings.steps - 1));
}

/* All passes of a run; a ramp ends with the first rate that is not reached. */
static json_t *run_passes(struct context *context, struct files *files, struct hdr *latency,
                          struct hdr *service)
{
    uint32_t count = settings.steps > 1 ? settings.steps : settings.repeats;
    json_t *passes = json_array();
    uint64_t begin_ns = instant_now_ns();

    for (uint32_t i = 0; i < count; i++) {
        snprintf(trial.label, sizeof trial.label, "pass %u of %u", i + 1, count);
        json_t *pass = trial_pass(&trial, rate_of(i));
        if (pass == NULL || !log_pass(context, files, begin_ns)) {
            json_decref(pass);
            json_decref(passes);
            return NULL;
        }
        (void)json_array_append_new(passes, pass);
        merge(latency, &trial.latency);
        merge(service, &trial.service);
        if (settings.steps > 1 && !json_is_true(json_object_get(pass, "valid")))
            break;
    }
    return passes;
}

static void run(struct context *context)
{
    struct hdr *latency = calloc(2, sizeof *latency), *service = latency + 1;
    struct files files;

    if (latency == NULL) {
        (void)context_fail(context, EXIT_CODE_usage, "no memory");
        return;
    }
    bool is_open = begin_files(context, &files) && trial_open(&trial, context, &settings);
    json_t *sheet = is_open ? sheet_begin(&trial) : NULL;
    json_t *passes = is_open ? run_passes(context, &files, latency, service) : NULL;
    if (passes != NULL) {
        bool is_good = sheet_end(sheet, passes, settings.steps > 1);
        if (!is_good)
            context->exit_code = EXIT_CODE_rejected;
        (void)end_files(context, &files, sheet, latency, service);
        if (context->arguments->json)
            json_dumpf(sheet, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
        else
            sheet_show(stdout, sheet);
        if (context->arguments->json)
            printf("\n");
        if (!is_good)
            fprintf(stderr, "perp bench run: not valid: a rate was not reached, or nothing was "
                            "accepted\n");
    }
    json_decref(sheet);
    free(latency);
    trial_close(&trial);
}

int command_bench_run(struct context *context)
{
    if (!bench_settings_read(context, &settings))
        return context->exit_code;
    run(context);
    return context->exit_code;
}

/* ---- bench gen ------------------------------------------------------------------------------- */

enum { START_IN_S = 10, START_IN_S_MAX = 86400 };

/* Runs the command that sends; its exit code is the command's success. */
static bool run_sender(struct context *context, const char *path)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        setenv("PERP_CORPUS", path, 1);
        setenv("PERP_URL", trial.rig.url, 1);
        setenv("PERP_ADMIN_URL", trial.rig.admin_url, 1);
        setenv("PERP_DATA", trial.rig.data, 1);
        execl("/bin/sh", "sh", "-c", context->arguments->values[FLAG_run], (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return context_fail(context, EXIT_CODE_usage, "--run: %s", strerror(errno));
    return status == 0 ||
           context_fail(context, EXIT_CODE_rejected, "--run: the command ended with %d",
                        WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static bool generate(struct context *context, uint64_t start_in_s)
{
    const struct schedule *schedule = &settings.schedule;
    const char *path = context->arguments->words[0];
    uint64_t count = (uint64_t)(schedule->rate_per_s * (double)schedule->length_ns / 1e9);
    struct corpus corpus = { 0 };
    char error[256];

    if (!trial_open(&trial, context, &settings))
        return false;
    uint64_t begin_ms =
        instant_now_ns() / 1000000 + trial_lead_ms(&trial, count) + 1000 * start_in_s;
    bool is_written = trial_sign(&trial, schedule, begin_ms, &corpus);
    if (is_written && !corpus_write(&corpus, path, error))
        is_written = context_fail(context, EXIT_CODE_usage, "%s", error);
    if (is_written)
        fprintf(stderr, "%s: %u requests from %.1f s on, over %.1f s\n", path, corpus.count,
                ((double)begin_ms - (double)instant_now_ns() / 1e6) / 1e3,
                (double)schedule->length_ns / 1e9);
    corpus_free(&corpus);
    return is_written &&
           (!arguments_has(context->arguments, FLAG_run) || run_sender(context, path));
}

int command_bench_gen(struct context *context)
{
    bool runs = arguments_has(context->arguments, FLAG_run);
    uint64_t start_in_s;

    if (!bench_settings_read(context, &settings) ||
        !choice_number(context, FLAG_start_in, 0, START_IN_S_MAX, runs ? 0 : START_IN_S,
                       &start_in_s))
        return context->exit_code;
    if (settings.steps > 1 || settings.schedule.kind == SCHEDULE_closed)
        return context_fail(context, EXIT_CODE_usage,
                            "a corpus has a rate: --schedule constant, poisson or bursts:N"),
               EXIT_CODE_usage;
    if (settings.is_stream)
        return context_fail(context, EXIT_CODE_usage,
                            "--websocket: a corpus is of HTTP; bench run sends over streams"),
               EXIT_CODE_usage;
    if (!settings.is_remote && !runs)
        return context_fail(context, EXIT_CODE_usage,
                            "name the exchange with --url, or with --run the command that sends "
                            "the corpus to a perpd that is started here"),
               EXIT_CODE_usage;
    settings.connections = 1;
    (void)generate(context, start_in_s);
    trial_close(&trial);
    return context->exit_code;
}
