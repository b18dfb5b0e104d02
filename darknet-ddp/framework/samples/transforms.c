#include "samples/transforms.h"

#include "layers/images/decode.h"
#include "layers/images/exif.h"

#include <darknet.h>
#include <utils.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ddp_label_path(const char *picture, char *out)
{
    char path[DDP_LABEL_PATH_BYTES];

    (void)snprintf(path, sizeof path, "%s", picture);
    (void)find_label_path(path, out);
}

/* Darknet's, in no header: write one of the places, from 0, where labels of a picture may be; 0:
 * there are no more. */
extern int label_place(char *path, int place, char *labelpath);

/* Return 1 if both files can be read and differ. */
static int differ(const char *a, const char *b)
{
    FILE *x = fopen(a, "r"), *y = fopen(b, "r");
    int c = 0, d = 0;

    while (x && y && c == d && c != EOF) {
        c = getc(x);
        d = getc(y);
    }
    if (x)
        (void)fclose(x);
    if (y)
        (void)fclose(y);
    return c != d;
}

int ddp_second_label_path(const char *picture, char *out)
{
    char path[DDP_LABEL_PATH_BYTES], taken[DDP_LABEL_PATH_BYTES];

    (void)snprintf(path, sizeof path, "%s", picture);
    if (!find_label_path(path, taken))
        return 0;
    for (int place = 0; label_place(path, place, out); place++)
        if (strcmp(out, taken) != 0 && differ(out, taken))
            return 1;
    return 0;
}

void ddp_mask_path(const char *picture, char *out)
{
    char path[DDP_LABEL_PATH_BYTES];
    char *name, *end;

    (void)snprintf(path, sizeof path, "%s", picture);
    find_replace(path, "images", "mask", out);
    find_replace(out, "JPEGImages", "mask", out);
    name = strrchr(out, '/');
    end = strrchr(name ? name : out, '.');
    if (!end)
        end = out + strlen(out);
    (void)snprintf(end, (size_t)(out + DDP_LABEL_PATH_BYTES - end), ".txt");
}

int ddp_decode_picture(const char *picture, char *note, size_t size)
{
    decoded d;
    int failed = decode_picture(picture, 3, &d);

    free(d.bytes);
    (void)snprintf(note, size, "%s", d.note);
    return failed;
}

int ddp_decode_grey(const char *picture, int side, unsigned char **grey, int *width, int *height)
{
    decoded d;

    if (decode_small(picture, side, &d))
        return -1;
    *grey = d.bytes;
    *width = d.w;
    *height = d.h;
    return 0;
}

int ddp_exif_orientation(const unsigned char *exif, size_t size)
{
    return exif_orientation(exif, size);
}

int ddp_picture_size(const char *picture, int *width, int *height)
{
    decoded d;
    int failed = decode_size(picture, &d);

    *width = d.w;
    *height = d.h;
    return failed;
}

const char *ddp_picture_decoders(void)
{
    return decoders();
}

int *ddp_map_read(const char *path)
{
    return read_map((char *)path);
}
