#include "node/run/divergence.h"

#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "engine/image/image.h"

enum { PATH_BYTES = 4200 };

struct file_sink {
    struct image_sink sink; /* first */
    FILE *out;
};

static void to_file(struct image_sink *sink, const void *bytes, size_t count)
{
    struct file_sink *file = (struct file_sink *)(void *)sink;
    (void)fwrite(bytes, 1, count, file->out); /* ferror is asked at the end */
}

static void write_image(struct engine *engine, const char *data_directory, const char *name)
{
    char path[PATH_BYTES];
    struct file_sink file = { .sink = { .bytes = to_file } };

    snprintf(path, sizeof path, "%s/divergence-%s.image", data_directory, name);
    file.out = fopen(path, "wb");
    if (file.out == NULL) {
        log_line(LOG_ERROR, "divergence", "path=%s: %s", path, strerror(errno));
        return;
    }
    image_write(engine, &file.sink);
    bool failed = ferror(file.out) != 0;
    failed = fclose(file.out) != 0 || failed;
    log_line(LOG_ERROR, "divergence", "path=%s sequence=%lu written=%d", path,
             engine_sequence(engine), !failed);
}

void divergence_write(struct core *core, const char *data_directory)
{
    write_image(core->primary, data_directory, "primary");
    write_image(core->replica, data_directory, "follower");
}
