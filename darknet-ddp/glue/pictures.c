#include "glue/pictures.h"

#include <darknet.h>

#include <stdio.h>

/* Darknet's copy of stb_image, which ends no program where a picture cannot be loaded. */
unsigned char *stbi_load(const char *path, int *width, int *height, int *channels, int wanted);
void stbi_image_free(void *pixels);

void ddp_label_path(const char *picture, char *out)
{
    char path[4096];

    (void)snprintf(path, sizeof path, "%s", picture);
    (void)find_label_path(path, out);
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
