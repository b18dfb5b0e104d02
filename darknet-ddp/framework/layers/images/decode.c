#include "layers/images/decode.h"
#include "layers/images/exif.h"
#include "layers/images/pixels.h"
#include "utils.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef calloc // Darknet's end the program; here a failure becomes a note
#undef realloc

enum { FIRST_ROOM = 1 << 18, MOST_WARNINGS = 20 };

static int fails(decoded *out, const char *why)
{
    free(out->bytes);
    out->bytes = 0;
    snprintf(out->note, sizeof out->note, "%s", why);
    return -1;
}

int decode_allocate(decoded *out)
{
    double values = (double)out->w * out->h * out->c;
    out->bytes = 0;
    if (values > INT_MAX)
        return fails(out, "it has more values than an int counts");
    out->bytes = malloc(values > 0 ? (size_t)values : 1);
    return out->bytes ? 0 : fails(out, "no memory for its pixels");
}

/* All of a file, which may be a pipe. *size bytes, to be freed. */
static unsigned char *read_whole(FILE *f, size_t *size)
{
    size_t room = FIRST_ROOM;
    unsigned char *bytes = malloc(room), *grown;
    *size = 0;
    while (bytes && (*size += fread(bytes + *size, 1, room - *size, f)) == room) {
        room *= 2;
        grown = room < INT_MAX ? realloc(bytes, room) : 0;
        if (!grown) {
            free(bytes);
            errno = room < INT_MAX ? ENOMEM : EFBIG;
        }
        bytes = grown;
    }
    if (bytes && ferror(f)) {
        free(bytes);
        bytes = 0;
    }
    return bytes;
}

static int decode_bytes(const unsigned char *file, size_t size, int least_side, decoded *out)
{
    if (size >= 2 && !memcmp(file, "\xff\xd8", 2))
        return decode_jpeg(file, size, least_side, out);
    if (size >= 8 && !memcmp(file, "\x89PNG\r\n\x1a\n", 8))
        return decode_png(file, size, least_side, out);
    return decode_other(file, size, least_side, out);
}

/* Turn what was decoded, or its size alone, so that it is upright. */
static int turn_upright(decoded *out)
{
    decoded to = *out;
    if (out->orientation <= EXIF_UPRIGHT)
        return 0;
    if (out->orientation >= EXIF_TRANSPOSED) {
        to.w = out->h;
        to.h = out->w;
    }
    if (out->bytes) {
        if (decode_allocate(&to))
            return fails(out, to.note);
        exif_turn(out->bytes, out->w, out->h, out->c, out->orientation, to.bytes);
        free(out->bytes);
    }
    *out = to;
    return 0;
}

static int decode_file(const char *path, int least_side, decoded *out)
{
    size_t size;
    int failed;
    unsigned char *file;
    FILE *f = fopen(path, "rb");
    memset(out, 0, sizeof *out);
    if (!f)
        return fails(out, strerror(errno));
    file = read_whole(f, &size);
    if (!file)
        fails(out, strerror(errno));
    fclose(f);
    if (!file)
        return -1;
    failed = decode_bytes(file, size, least_side, out);
    free(file);
    return failed ? -1 : turn_upright(out);
}

/* A pixel of n channels as one of c. Grey is what stb_image makes of colours. */
static void convert_pixel(const unsigned char *in, int n, unsigned char *p, int c)
{
    int coloured = n > 2;
    if (c > 2) {
        p[0] = in[0];
        p[1] = in[coloured ? 1 : 0];
        p[2] = in[coloured ? 2 : 0];
    } else {
        p[0] = coloured ? (unsigned char)((77 * in[0] + 150 * in[1] + 29 * in[2]) >> 8) : in[0];
    }
    if (c % 2 == 0)
        p[c - 1] = n % 2 == 0 ? in[n - 1] : 255;
}

static int convert(decoded *out, int c)
{
    size_t i, count = (size_t)out->w * (size_t)out->h;
    decoded to = *out;
    to.c = c;
    if (decode_allocate(&to))
        return fails(out, to.note);
    for (i = 0; i < count; ++i)
        convert_pixel(out->bytes + i * (size_t)out->c, out->c, to.bytes + i * (size_t)c, c);
    free(out->bytes);
    *out = to;
    return 0;
}

int decode_picture(const char *path, int channels, decoded *out)
{
    if (decode_file(path, DECODE_WHOLE, out))
        return -1;
    return channels && channels != out->c ? convert(out, channels) : 0;
}

int decode_size(const char *path, decoded *out)
{
    return decode_file(path, DECODE_SIZE, out);
}

int decode_small(const char *path, int side, decoded *out)
{
    if (decode_file(path, side, out))
        return -1;
    return out->c != 1 ? convert(out, 1) : 0;
}

/* FNV-1a. */
static uint64_t hash_of(const char *path)
{
    uint64_t hash = 14695981039346656037u;
    while (*path)
        hash = (hash ^ (unsigned char)*path++) * 1099511628211u;
    return hash;
}

/* Each picture once, however often it is loaded, and not too many of them. */
static void warn(const char *path, const char *note)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t warned[MOST_WARNINGS + 1];
    static int count;
    int i = 0;
    uint64_t hash = hash_of(path);
    pthread_mutex_lock(&mutex);
    while (i < count && warned[i] != hash)
        ++i;
    if (i == count && count <= MOST_WARNINGS) {
        warned[count++] = hash;
        if (count <= MOST_WARNINGS)
            fprintf(stderr, "warning: %s: the decoder warns: %s\n", path, note);
        else
            fprintf(stderr, "warning: the decoder warns of more pictures; darknet ddp check -deep "
                            "names them\n");
    }
    pthread_mutex_unlock(&mutex);
}

static image load_whole(const char *path, int channels)
{
    decoded d;
    if (decode_picture(path, channels, &d))
        fatal("Cannot load image \"%s\": %s", path, d.note);
    if (d.note[0])
        warn(path, d.note);
    image im = make_image(d.w, d.h, d.c);
    pixels_from_bytes(d.bytes, (size_t)d.w * (size_t)d.h, d.c, im.data);
    free(d.bytes);
    return im;
}

__thread char *image_loaded_last = 0;

image load_image(char *filename, int w, int h, int c)
{
    image_loaded_last = filename;
    train_reads_picture(filename);
    image im = load_whole(filename, c);
    if (w && h && (w != im.w || h != im.h)) {
        image resized = resize_image(im, w, h);
        free_image(im);
        im = resized;
    }
    return im;
}

image load_image_color(char *filename, int w, int h)
{
    return load_image(filename, w, h, 3);
}
