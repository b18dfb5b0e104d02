#include "samples/transforms.h"

#include <darknet.h>
#include <utils.h>

#include <stdio.h>
#include <string.h>

/* Darknet's copy of stb_image, which ends no program where a picture cannot be loaded. */
unsigned char *stbi_load(const char *path, int *width, int *height, int *channels, int wanted);
void stbi_image_free(void *pixels);
int stbi_info(const char *path, int *width, int *height, int *channels);

void ddp_label_path(const char *picture, char *out)
{
    char path[DDP_LABEL_PATH_BYTES];

    (void)snprintf(path, sizeof path, "%s", picture);
    (void)find_label_path(path, out);
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

int ddp_decode_picture(const char *picture)
{
    int width, height, channels;
    unsigned char *pixels = stbi_load(picture, &width, &height, &channels, 3);

    if (!pixels)
        return -1;
    stbi_image_free(pixels);
    return 0;
}

int ddp_picture_size(const char *picture, int *width, int *height)
{
    int channels;

    return stbi_info(picture, width, height, &channels) ? 0 : -1;
}

int *ddp_map_read(const char *path)
{
    return read_map((char *)path);
}
