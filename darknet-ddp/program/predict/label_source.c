#include "predict/label_source.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char folder[] = "labels/";

/* Open the file of sources of a label file. Returns NULL if there is none. */
static FILE *open_sources(const char *labels)
{
    const char *at = NULL;
    char *path;
    FILE *f;

    for (const char *c = strstr(labels, folder); c; c = strstr(c + 1, folder))
        at = c;
    if (!at
        || asprintf(&path, "%.*ssources/%s", (int)(at - labels), labels, at + sizeof folder - 1)
               < 0)
        return NULL;
    f = fopen(path, "re");
    free(path);
    return f;
}

/* Return 1 if the lines of `labels` are those of which f tells: the file is not younger. */
static int is_of(const char *labels, FILE *f)
{
    struct stat made;

    return !fstat(fileno(f), &made) && !ddp_file_is_younger(labels, &made.st_mtim);
}

int ddp_label_source_read(ddp_label_source *s, const char *labels, int line)
{
    FILE *f = open_sources(labels);
    char *text = NULL, *tab;
    size_t room = 0;
    int wanted = f && line > 0 && is_of(labels, f) ? line : 0, is_found = 0;

    s->object[0] = '\0';
    for (int n = 1; f && !is_found && getline(&text, &room, f) > 0; n++) {
        text[strcspn(text, "\n")] = '\0';
        tab = strrchr(text, '\t');
        is_found = tab && n == (wanted ? wanted : 1);
        if (!is_found)
            continue;
        (void)snprintf(s->file, sizeof s->file, "%.*s", (int)(tab - text), text);
        if (wanted)
            (void)snprintf(s->object, sizeof s->object, "%s", tab + 1);
    }
    if (f)
        (void)fclose(f);
    free(text);
    return is_found;
}
