#include "check/picture.h"

#include "check/lists.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { HEAD = 64, TAIL = 4096 };

struct picture {
    FILE *file;
    const char *path;
    off_t size;
    unsigned char head[HEAD];
    size_t head_bytes;
    int width, height;    /* as they are stored */
    ddp_exif_reader exif; /* or NULL */
    int orientation;
};

static int begins_with(const struct picture *p, const char *bytes, size_t count)
{
    return p->head_bytes >= count && memcmp(p->head, bytes, count) == 0;
}

static int big16(const unsigned char *b)
{
    return b[0] << 8 | b[1];
}

static int big32(const unsigned char *b)
{
    return (int)((unsigned)b[0] << 24 | (unsigned)b[1] << 16 | (unsigned)b[2] << 8 | b[3]);
}

static int little(const unsigned char *b, int bytes)
{
    unsigned value = 0;

    for (int i = bytes; i-- > 0;)
        value = value << 8 | b[i];
    return (int)value;
}

/* Return 1 if these bytes stand in the last few thousand of the file: some programs write more
 * behind the end. */
static int ends_with(const struct picture *p, const char *bytes, size_t count)
{
    unsigned char tail[TAIL];
    off_t start = p->size > TAIL ? p->size - TAIL : 0;
    size_t got;

    if (fseeko(p->file, start, SEEK_SET))
        return 0;
    got = fread(tail, 1, sizeof tail, p->file);
    return memmem(tail, got, bytes, count) != NULL;
}

/* Read the orientation from the Exif data that lie behind `skip` bytes of what comes next in the
 * file, `bytes` in all. Without memory they count as none. */
static void read_exif(struct picture *p, size_t skip, size_t bytes)
{
    unsigned char *exif = p->exif && bytes > skip ? malloc(bytes) : NULL;

    if (exif && fread(exif, 1, bytes, p->file) == bytes
        && (skip == 0 || memcmp(exif, "Exif\0", skip) == 0))
        p->orientation = p->exif(exif + skip, bytes - skip);
    free(exif);
}

/* Return 1 for a marker of a frame, which has a picture's size: SOF0 to SOF15 but for DHT, JPG and
 * DAC. */
static int is_frame(int marker)
{
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

/* Read the size of a JPEG from its frame, walking over the segments before it. Returns what is
 * wrong, or NULL. */
static const char *read_jpeg(struct picture *p)
{
    unsigned char b[8];
    off_t at = 2;

    for (;;) {
        if (fseeko(p->file, at, SEEK_SET) || fread(b, 1, 4, p->file) != 4)
            return "ends in its header";
        if (b[0] != 0xff)
            return "has a broken header";
        if (b[1] == 0xff) { /* a byte for padding */
            at++;
            continue;
        }
        if (is_frame(b[1]))
            break;
        if (b[1] == 0xe1 && p->orientation == 0 && big16(b + 2) > 2)
            read_exif(p, sizeof "Exif\0", (size_t)big16(b + 2) - 2);
        at += 2 + big16(b + 2);
    }
    if (fread(b, 1, 5, p->file) != 5)
        return "ends in its header";
    p->height = big16(b + 1);
    p->width = big16(b + 3);
    return ends_with(p, "\xff\xd9", 2) ? NULL : "is cut off: its end mark is missing";
}

/* Look for an eXIf chunk before the pixels. */
static void find_png_exif(struct picture *p)
{
    unsigned char b[8];
    off_t at = 8;

    while (p->exif && !fseeko(p->file, at, SEEK_SET) && fread(b, 1, 8, p->file) == 8
           && memcmp(b + 4, "IDAT", 4) != 0 && big32(b) >= 0 && big32(b) < p->size - at) {
        if (memcmp(b + 4, "eXIf", 4) == 0) {
            read_exif(p, 0, (size_t)big32(b));
            return;
        }
        at += 12 + (off_t)big32(b);
    }
}

static const char *read_png(struct picture *p)
{
    if (p->head_bytes < 24 || memcmp(p->head + 12, "IHDR", 4) != 0)
        return "has a broken header";
    p->width = big32(p->head + 16);
    p->height = big32(p->head + 20);
    find_png_exif(p);
    return ends_with(p, "IEND", 4) ? NULL : "is cut off: its end mark is missing";
}

static const char *read_bmp(struct picture *p)
{
    if (p->head_bytes < 26)
        return "ends in its header";
    if (little(p->head + 14, 4) == 12) { /* the oldest kind */
        p->width = little(p->head + 18, 2);
        p->height = little(p->head + 20, 2);
        return NULL;
    }
    p->width = little(p->head + 18, 4);
    p->height = little(p->head + 22, 4);
    if (p->height < 0) /* top row first */
        p->height = -p->height;
    return NULL;
}

static const char *read_gif(struct picture *p)
{
    if (p->head_bytes < 10)
        return "ends in its header";
    p->width = little(p->head + 6, 2);
    p->height = little(p->head + 8, 2);
    return NULL;
}

static const char *read_psd(struct picture *p)
{
    if (p->head_bytes < 22)
        return "ends in its header";
    p->height = big32(p->head + 14);
    p->width = big32(p->head + 18);
    return NULL;
}

/* Read no size: for kinds whose size is not needed. */
static const char *read_nothing(struct picture *p)
{
    p->width = p->height = 1;
    return NULL;
}

static const struct kind {
    const char *start;
    size_t bytes;
    const char *(*read)(struct picture *p); /* NULL: Darknet cannot load it */
    const char *name;
} kinds[] = {
    {"\xff\xd8\xff", 3, read_jpeg, "JPEG"},
    {"\x89PNG\r\n\x1a\n", 8, read_png, "PNG"},
    {"BM", 2, read_bmp, "BMP"},
    {"GIF8", 4, read_gif, "GIF"},
    {"8BPS", 4, read_psd, "PSD"},
    {"#?RADIANCE", 10, read_nothing, "HDR"},
    {"P5", 2, read_nothing, "PGM"},
    {"P6", 2, read_nothing, "PPM"},
    {"RIFF", 4, NULL, "WebP"},
    {"II*", 4, NULL, "TIFF"},
    {"MM\0*", 4, NULL, "TIFF"},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Return the kind of a format that begins with a size, not with a name; NULL: none. */
static const struct kind *of_box_format(const struct picture *p)
{
    static const struct kind heif = {"", 0, NULL, "HEIF or AVIF"};
    static const struct kind targa = {"", 0, read_nothing, "TGA"};
    const char *dot = strrchr(p->path, '.');

    if (p->head_bytes >= 12 && memcmp(p->head + 4, "ftyp", 4) == 0)
        return &heif;
    return dot && strcasecmp(dot, ".tga") == 0 ? &targa : NULL;
}

static const struct kind *find_kind(const struct picture *p)
{
    for (int i = 0; i < KINDS; i++)
        if (begins_with(p, kinds[i].start, kinds[i].bytes))
            return &kinds[i];
    return of_box_format(p);
}

/* Check the picture. Returns what is wrong, or NULL. */
static const char *look(struct picture *p, char *text, size_t size)
{
    const struct kind *kind;
    const char *wrong;

    p->head_bytes = fread(p->head, 1, sizeof p->head, p->file);
    if (p->head_bytes == 0)
        return "is empty";
    kind = find_kind(p);
    if (kind && kind->read) {
        wrong = kind->read(p);
        if (wrong)
            return wrong;
        if (p->width < 1 || p->height < 1)
            return "has no width or no height";
        return NULL;
    }
    (void)snprintf(text, size,
                   "is %s%s: Darknet loads JPEG, PNG, BMP, GIF, TGA, PSD, HDR, PGM and PPM",
                   kind ? "a file of kind " : "no picture of a known kind", kind ? kind->name : "");
    return text;
}

int ddp_check_picture(ddp_faults *f, const char *path, const char *place, ddp_exif_reader exif,
                      ddp_picture_header *header)
{
    struct picture p = {.path = path, .file = fopen(path, "rb"), .exif = exif};
    struct stat is;
    const char *wrong;
    char text[160];

    *header = (ddp_picture_header){0};
    if (!p.file) {
        ddp_fault_add(f, DDP_FAULT_ERROR, "picture-unreadable", path, 0,
                      "cannot be read: %s%s (%s)", strerror(errno), ddp_path_oddity(path), place);
        return 0;
    }
    if (fstat(fileno(p.file), &is) || !S_ISREG(is.st_mode)) {
        wrong = "is no file";
    } else {
        p.size = is.st_size;
        wrong = look(&p, text, sizeof text);
    }
    (void)fclose(p.file);
    if (wrong) {
        ddp_fault_add(f, DDP_FAULT_ERROR, "picture-broken", path, 0, "%s (%s)", wrong, place);
        return 0;
    }
    header->width = p.orientation < 5 ? p.width : p.height;
    header->height = p.orientation < 5 ? p.height : p.width;
    header->turned = p.orientation > 1;
    return 1;
}
