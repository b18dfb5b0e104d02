#include "glue/cfg.h"

#include <darknet.h>
#include <errno.h>
#include <layers/cfg_keys.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Is this line "key = ..." for that key? Darknet ignores blanks anywhere. */
static int is_line_of(const char *line, const char *key)
{
    line += strspn(line, " \t");
    if (strncmp(line, key, strlen(key)) != 0)
        return 0;
    line += strlen(key);
    return line[strspn(line, " \t")] == '=';
}

static int is_replaced(const char *line, const ddp_cfg_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i].value && is_line_of(line, values[i].key))
            return 1;
    return 0;
}

static void copy(FILE *in, FILE *out, const ddp_cfg_value *values, size_t count)
{
    char *line = NULL;
    size_t size = 0;
    int in_net = 0;

    for (ssize_t bytes; (bytes = getline(&line, &size, in)) >= 0;) {
        size_t mark = ddp_byte_order_mark(line, (size_t)bytes);

        (void)memmove(line, line + mark, (size_t)bytes + 1 - mark);
        if (line[0] == '[') {
            in_net = strncmp(line, "[net]", 5) == 0 || strncmp(line, "[network]", 9) == 0;
            (void)fprintf(out, "%s", line);
            for (size_t i = 0; in_net && i < count; i++)
                if (values[i].value)
                    (void)fprintf(out, "%s=%d\n", values[i].key, values[i].value);
        } else if (!in_net || !is_replaced(line, values, count)) {
            (void)fprintf(out, "%s", line);
        }
    }
    free(line);
}

ddp_status ddp_cfg_with(const char *path, const ddp_cfg_value *values, size_t count, char *out,
                        int *fd, ddp_error *err)
{
    FILE *in = fopen(path, "r");
    FILE *file;
    int failed;

    *fd = -1;
    if (!in)
        return ddp_fail(err, DDP_ERR_IO, "cannot read %s: %s", path, strerror(errno));
    *fd = memfd_create("cfg", 0);
    file = *fd < 0 ? NULL : fdopen(dup(*fd), "w");
    if (!file) {
        (void)fclose(in);
        return ddp_fail(err, DDP_ERR_IO, "cannot make a copy of %s: %s", path, strerror(errno));
    }
    copy(in, file, values, count);
    failed = ferror(in) | ferror(file) | fclose(in);
    failed |= fclose(file);
    (void)snprintf(out, DDP_CFG_PATH_BYTES, "/proc/self/fd/%d", *fd);
    if (failed)
        return ddp_fail(err, DDP_ERR_IO, "cannot copy %s: %s", path, strerror(errno));
    return DDP_OK;
}

static int has_key_of_forks(const ddp_cfg_section *s)
{
    const cfg_section *known = s->title ? cfg_find_section(s->title->key) : NULL;

    if (!known)
        return 0;
    for (size_t i = 0; i < s->count; i++)
        if (cfg_is_v4(known, s->options[i].key, s->options[i].value))
            return 1;
    return cfg_is_v4(known, NULL, NULL);
}

int ddp_cfg_of_forks(const ddp_cfg_text *cfg)
{
    ddp_cfg_section s;
    size_t at = 0;

    while (ddp_cfg_next_section(cfg, &at, &s))
        if (has_key_of_forks(&s))
            return 1;
    return 0;
}

int ddp_cfg_has_unknown_section(const ddp_cfg_text *cfg)
{
    ddp_cfg_section s;
    size_t at = 0;

    while (ddp_cfg_next_section(cfg, &at, &s))
        if (s.title && !cfg_find_section(s.title->key))
            return 1;
    return 0;
}

char *ddp_cfg_base(const char *path)
{
    return basecfg((char *)path);
}
