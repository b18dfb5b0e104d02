#include "glue/pictures.h"

#include <darknet.h>

#include <stdio.h>
#include <string.h>

/* Darknet's copy of stb_image, which ends no program where a picture cannot be loaded. */
unsigned char *stbi_load(const char *path, int *width, int *height, int *channels, int wanted);
void stbi_image_free(void *pixels);

/* Of path[0..4096), the first `from` becomes `to`. */
static void replace(char *path, char *from, char *to)
{
    char copy[4096];

    (void)snprintf(copy, sizeof copy, "%s", path);
    find_replace(copy, from, to, path);
}

void ddp_label_path(const char *picture, char *out)
{
    char *name, *dot;

    (void)snprintf(out, 4096 - 16, "%s", picture);
    replace(out, "images", "labels");
    replace(out, "JPEGImages", "labels");
    replace(out, "raw", "labels");
    name = strrchr(out, '/');
    dot = strrchr(name ? name : out, '.');
    (void)snprintf(dot ? dot : out + strlen(out), 5, ".txt");
}

int ddp_decode_picture(const char *picture)
{
    int width, height, channels;
    unsigned char *pixels = stbi_load(picture, &width, &height, &channels, 3);

    if (!pixels)
        return -1;
    stbi_image_free(pixels);
    return 0;
}
