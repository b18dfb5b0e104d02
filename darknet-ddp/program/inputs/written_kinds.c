/* Tells by the first bytes of a file whether it is of a kind that this program's commands write, so
 * that no other file is written over. */
#include "inputs/written_kinds.h"

#include "inputs/weights_file.h"
#include "monitor/html.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HEAD = 1024 }; /* more than a line of results, with a picture's name, has */

typedef struct head {
    char bytes[HEAD + 1]; /* with a 0 behind them */
    size_t count;
} head;

static int begins(const head *h, const char *with, size_t bytes)
{
    return h->count >= bytes && memcmp(h->bytes, with, bytes) == 0;
}

static int begins_with(const head *h, const char *text)
{
    return begins(h, text, strlen(text));
}

/* Return 1 if a file begins as Darknet's writer of JPEGs begins it: JFIF 1.1 without a density,
 * then two tables in one segment. A camera's or an editor's picture begins otherwise. */
static int begins_as_jpeg_of_darknet(const head *h)
{
    static const char jpeg[] = "\xff\xd8\xff\xe0\0\x10JFIF\0\1\1\0\0\1\0\1\0\0\xff\xdb\0\x84";

    return begins(h, jpeg, sizeof jpeg - 1);
}

/* The first line that is neither empty nor a comment is that of a section. */
static int begins_as_cfg(const head *h)
{
    const char *line = h->bytes;

    while (*line && strchr("#;\r\n", *line))
        line += strcspn(line, "\n") + (strchr(line, '\n') != NULL);
    return *line == '[';
}

/* Return 1 if a file begins with a version of ONNX and then the name of its writer. */
static int begins_as_onnx(const head *h)
{
    static const char writer[] = "\x12\x0b"
                                 "darknet-ddp";

    return h->bytes[0] == 8 && h->count > sizeof writer
           && memcmp(h->bytes + 2, writer, sizeof writer - 1) == 0;
}

/* ---- a detector's results ---- */

static int begins_as_coco_results(const head *h)
{
    return begins_with(h, "[\n{\"image_id\":") || begins_with(h, "[\n\n]\n");
}

/* Is the word a number as "%f" prints it? */
static int is_fixed_point(const char *word)
{
    size_t whole = strspn(word += *word == '-', "0123456789");

    return whole > 0 && word[whole] == '.' && strspn(word + whole + 1, "0123456789") == 6
           && word[whole + 7] == '\0';
}

/* A score and the four sides of a box end the first line. before: what is in front of them. */
static int begins_as_results(const head *h, char before[HEAD + 1])
{
    const char *end = memchr(h->bytes, '\n', h->count);

    if (!end)
        return 0;
    (void)snprintf(before, HEAD + 1, "%.*s", (int)(end - h->bytes), h->bytes);
    for (int i = 0; i < 5; i++) {
        char *blank = strrchr(before, ' ');

        if (!blank || !is_fixed_point(blank + 1))
            return 0;
        *blank = '\0';
    }
    return 1;
}

static int begins_as_voc_results(const head *h)
{
    char picture[HEAD + 1];

    return begins_as_results(h, picture) && picture[0];
}

/* The numbers of a picture and of a class stand in front. */
static int begins_as_imagenet_results(const head *h)
{
    char numbers[HEAD + 1];
    size_t first;

    if (!begins_as_results(h, numbers))
        return 0;
    first = strspn(numbers, "0123456789");
    return first > 0 && numbers[first] == ' ' && isdigit((unsigned char)numbers[first + 1])
           && numbers[first + 1 + strspn(numbers + first + 1, "0123456789")] == '\0';
}

/* ---- any of them ---- */

static int begins_as_weights(const head *h)
{
    return ddp_begins_as_weights((const unsigned char *)h->bytes, h->count);
}

/* For each kind: its name, and how its files begin, by a text or a function. */
static const struct {
    const char *name, *text;
    int (*begins)(const head *h);
    int is_kept; /* ddp_written_is_kept */
} kinds[] = {
    [DDP_WRITTEN_CHECK] = {"earlier report of `ddp check`", "{\"faults\": "},
    [DDP_WRITTEN_MAP] = {"earlier report of `detector map`", "{\"found\": "},
    [DDP_WRITTEN_PREDICTIONS] = {"earlier file of predictions", "{\"pictures\": "},
    [DDP_WRITTEN_SUSPECTS] = {"earlier ranking of `ddp suspects`", "{\"suspects\": "},
    [DDP_WRITTEN_PAGE] = {"page that darknet wrote", ddp_html_first},
    [DDP_WRITTEN_OPTIONS] = {"earlier table of `ddp options`", "{\"options\": "},
    [DDP_WRITTEN_BENCH] = {"earlier report of `ddp bench`", "{\n  \"cfg\": "},
    [DDP_WRITTEN_TRACE] = {"earlier trace", "{\"traceEvents\":"},
    [DDP_WRITTEN_PROFILE] = {"profile", "# darknet-ddp profile"},
    [DDP_WRITTEN_CFG] = {"cfg", NULL, begins_as_cfg, 1},
    [DDP_WRITTEN_ONNX] = {"ONNX file that darknet wrote", NULL, begins_as_onnx},
    [DDP_WRITTEN_WEIGHTS] = {"weights file", NULL, begins_as_weights, 1},
    [DDP_WRITTEN_JPEG] = {"JPEG picture that darknet wrote", NULL, begins_as_jpeg_of_darknet},
    [DDP_WRITTEN_VOC] = {"earlier result of VOC (eval=voc)", NULL, begins_as_voc_results},
    [DDP_WRITTEN_COCO] = {"earlier result of COCO (eval=coco)", NULL, begins_as_coco_results},
    [DDP_WRITTEN_IMAGENET] = {"earlier result of ImageNet (eval=imagenet)", NULL,
                              begins_as_imagenet_results},
};

const char *ddp_written_name(ddp_written_kind kind)
{
    return kinds[kind].name;
}

int ddp_written_is_kept(ddp_written_kind kind)
{
    return kinds[kind].is_kept;
}

int ddp_written_is_other(const char *path, ddp_written_kind kind)
{
    head h = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, h.bytes, HEAD);

    if (fd >= 0)
        (void)close(fd);
    if (got <= 0)
        return 0;
    h.count = (size_t)got;
    return kinds[kind].text ? !begins_with(&h, kinds[kind].text) : !kinds[kind].begins(&h);
}
