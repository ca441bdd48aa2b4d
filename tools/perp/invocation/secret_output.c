#include "perp/invocation/secret_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "perp/invocation/arguments.h"
#include "perp/invocation/context.h"
#include "perp/invocation/exit_code.h"

bool secret_output_is_free(struct context *context)
{
    const char *out = context->arguments->values[FLAG_out];
    if (out != NULL && access(out, F_OK) == 0)
        return context_fail(context, EXIT_CODE_usage, "%s exists", out);
    context->hide_secret = out != NULL || arguments_has(context->arguments, FLAG_save);
    return true;
}

/* The secret exists nowhere else: when the file fails, it is shown after all. */
static bool write_secret(struct context *context, uint32_t setting, const char *path,
                         const char *secret)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = fd >= 0 && dprintf(fd, "%s\n", secret) > 0 && fsync(fd) == 0;
    int reason = errno;
    if (fd >= 0)
        close(fd);
    if (good)
        return true;
    fprintf(stderr, "%s %s\n", settings_name((enum setting)setting), secret);
    return context_fail(context, EXIT_CODE_usage,
                        "cannot write %s: %s; the key is printed above, and nowhere else", path,
                        strerror(reason));
}

bool secret_output_keep(struct context *context, uint32_t setting, const char *secret)
{
    char error[SETTINGS_ERROR_MAX];
    const char *out = context->arguments->values[FLAG_out];
    if (secret[0] == '\0')
        return true;
    if (out != NULL && !write_secret(context, setting, out, secret))
        return false;
    if (!arguments_has(context->arguments, FLAG_save))
        return true;
    if (!settings_save(context->settings, (enum setting)setting, secret, error)) {
        fprintf(stderr, "%s %s\n", settings_name((enum setting)setting), secret);
        return context_fail(context, EXIT_CODE_usage, "%s", error);
    }
    fprintf(stderr, "saved in %s [%s]\n", context->settings->config_path,
            context->settings->profile);
    return true;
}
