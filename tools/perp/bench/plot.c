#include "perp/bench/plot.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perp/bench/answer.h"
#include "perp/bench/sheet.h"

enum { PATH_BYTES = 4096 };

static const char HEAD[] = "set terminal svg size 900,520 font 'sans,13' background '#ffffff'\n"
                           "set grid\nset key top left\nset border 3\n"
                           "set xtics nomirror\nset ytics nomirror\n";

static const char PERCENTILES[] =
    "set output 'percentiles.svg'\n"
    "set title 'latency by percentile'\nset xlabel 'percentile'\nset ylabel 'us'\n"
    "set logscale x\nset logscale y\nset xrange [1:*]\n"
    "set xtics ('0' 1, '90' 10, '99' 100, '99.9' 1000, '99.99' 10000, '99.999' 100000)\n"
    "plot 'latency.dat' using 2:1 with lines lw 2 title 'from when it was due', \\\n"
    "     'service.dat' using 2:1 with lines lw 2 title 'from when it was sent'\n"
    "unset logscale x\nset xrange [*:*]\nset xtics autofreq\n";

static const char TIMELINE[] =
    "set output 'timeline.svg'\n"
    "set title 'latency of each second'\nset xlabel 'second of the due moment'\nset ylabel 'us'\n"
    "set xrange [-0.5:*]\n"
    "plot 'timeline.dat' using 1:4 with linespoints lw 2 title 'p50', \\\n"
    "     '' using 1:5 with linespoints lw 2 title 'p99', \\\n"
    "     '' using 1:6 with linespoints lw 2 title 'max'\n"
    "set xrange [*:*]\n";

static const char STAGES[] =
    "set output 'stages.svg'\nunset logscale y\n"
    "set title 'in the server: from the receipt to each stage'\nset xlabel ''\nset ylabel 'us'\n"
    "set style data histograms\nset style fill solid 0.8\nset yrange [0:*]\n"
    "plot 'stages.dat' using 2:xtic(1) title 'p50', '' using 3 title 'p99'\n"
    "set yrange [*:*]\n";

static const char KNEE[] =
    "set output 'knee.svg'\nset logscale y\nset style data linespoints\n"
    "set title 'latency over rate'\nset xlabel 'requests due a second'\nset ylabel 'us'\n"
    "plot 'knee.dat' using 1:3 lw 2 title 'p50', '' using 1:4 lw 2 title 'p99', \\\n"
    "     '' using 1:5 lw 2 title 'max'\n";

static FILE *open_file(const char *folder, const char *name, char error[256])
{
    char path[PATH_BYTES];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = length > 0 && (size_t)length < sizeof path ? fopen(path, "we") : NULL;

    if (out == NULL)
        snprintf(error, 256, "%.180s: %s", name, strerror(errno));
    return out;
}

static bool close_file(FILE *out, const char *name, char error[256])
{
    bool is_written = !ferror(out);

    if (fclose(out) == 0 && is_written)
        return true;
    snprintf(error, 256, "%.180s: %s", name, strerror(errno));
    return false;
}

/* "nan" is a hole in a line of gnuplot's. */
static void put_number(FILE *out, const json_t *object, const char *path)
{
    double value;

    if (sheet_number(object, path, &value))
        fprintf(out, " %.3f", value);
    else
        fprintf(out, " nan");
}

/* Value and 1/(1 - percentile) of each line of a percentile table; the last has no such number. */
static bool copy_percentiles(const char *folder, const char *from, const char *to, char error[256])
{
    char path[PATH_BYTES], line[256];
    double value, share, seen, inverse;
    FILE *out = open_file(folder, to, error);

    if (out == NULL)
        return false;
    snprintf(path, sizeof path, "%s/%s", folder, from);
    FILE *in = fopen(path, "re");
    while (in != NULL && fgets(line, sizeof line, in) != NULL)
        if (sscanf(line, "%lf %lf %lf %lf", &value, &share, &seen, &inverse) == 4)
            fprintf(out, "%.3f %.3f\n", value, inverse);
    if (in != NULL)
        (void)fclose(in);
    return close_file(out, to, error);
}

static bool write_timeline(const json_t *pass, const char *folder, char error[256])
{
    FILE *out = open_file(folder, "timeline.dat", error);
    const json_t *row;
    size_t i;

    if (out == NULL)
        return false;
    fprintf(out, "# second due answered p50_us p99_us max_us, of the last pass\n");
    json_array_foreach(json_object_get(pass, "timeline"), i, row)
    {
        put_number(out, row, "second");
        put_number(out, row, "due");
        put_number(out, row, "answered");
        put_number(out, row, "latency_us.p50");
        put_number(out, row, "latency_us.p99");
        put_number(out, row, "latency_us.max");
        fprintf(out, "\n");
    }
    return close_file(out, "timeline.dat", error);
}

static bool write_stages(const json_t *pass, const char *folder, char error[256])
{
    FILE *out = open_file(folder, "stages.dat", error);
    char path[64];

    if (out == NULL)
        return false;
    fprintf(out, "# stage p50_us p99_us, as the acknowledgements of the last pass tell them\n");
    for (unsigned i = 0; i < ANSWER_STAGE_COUNT; i++) {
        fprintf(out, "%s", answer_stage_name(i));
        snprintf(path, sizeof path, "ack_stages_us.%s.p50", answer_stage_name(i));
        put_number(out, pass, path);
        snprintf(path, sizeof path, "ack_stages_us.%s.p99", answer_stage_name(i));
        put_number(out, pass, path);
        fprintf(out, "\n");
    }
    return close_file(out, "stages.dat", error);
}

static bool write_knee(const json_t *passes, const char *folder, char error[256])
{
    FILE *out = open_file(folder, "knee.dat", error);
    const json_t *pass;
    size_t i;

    if (out == NULL)
        return false;
    fprintf(out, "# rate_wanted answered_per_s p50_us p99_us max_us\n");
    json_array_foreach(passes, i, pass)
    {
        put_number(out, pass, "rate_wanted");
        put_number(out, pass, "answered_per_s");
        put_number(out, pass, "latency_us.p50");
        put_number(out, pass, "latency_us.p99");
        put_number(out, pass, "latency_us.max");
        fprintf(out, "\n");
    }
    return close_file(out, "knee.dat", error);
}

static bool has_stages(const json_t *pass)
{
    double value;

    return sheet_number(pass, "ack_stages_us.verified.p50", &value);
}

bool plot_write(const json_t *sheet, const char *folder, char error[256])
{
    const json_t *passes = json_object_get(sheet, "passes");
    const json_t *last = json_array_get(passes, json_array_size(passes) - 1);
    bool is_ramp = !json_is_null(json_object_get(sheet, "knee"));

    if (!copy_percentiles(folder, "latency.hgrm", "latency.dat", error) ||
        !copy_percentiles(folder, "service.hgrm", "service.dat", error) ||
        !write_timeline(last, folder, error) || !write_stages(last, folder, error) ||
        !write_knee(passes, folder, error))
        return false;
    FILE *out = open_file(folder, "plot.gp", error);
    if (out == NULL)
        return false;
    fprintf(out, "%s%s%s%s%s", HEAD, PERCENTILES, TIMELINE, has_stages(last) ? STAGES : "",
            is_ramp ? KNEE : "");
    return close_file(out, "plot.gp", error);
}

bool plot_run(const char *folder, char error[256])
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        if (chdir(folder) != 0)
            _exit(126);
        execlp("gnuplot", "gnuplot", "plot.gp", (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        snprintf(error, 256, "gnuplot: %s", strerror(errno));
        return false;
    }
    if (status == 0)
        return true;
    snprintf(error, 256, "%s",
             WIFEXITED(status) && WEXITSTATUS(status) == 127
                 ? "gnuplot is not installed (package gnuplot-nox): plot.gp and its data are there"
                 : "gnuplot failed on plot.gp");
    return false;
}
