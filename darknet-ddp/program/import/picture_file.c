#include "import/picture_file.h"

#include "check/picture.h"
#include "samples/transforms.h"

#include <math.h>

/* The orientation that the last header has said. */
static int orientation_seen;

static int note_orientation(const unsigned char *exif, size_t size)
{
    orientation_seen = ddp_exif_orientation(exif, size);
    return orientation_seen;
}

int ddp_picture_file_look(ddp_picture_file *p, const char *path)
{
    ddp_faults faults = {0};
    ddp_picture_header header;
    int is_fit;

    orientation_seen = 1;
    is_fit = ddp_check_picture(&faults, path, path, note_orientation, &header);
    ddp_faults_release(&faults);
    *p = (ddp_picture_file){header.width, header.height, orientation_seen};
    return is_fit;
}

void ddp_picture_size_if_unknown(ddp_annotated_picture *p)
{
    ddp_picture_file file;

    if (p->width > 0 && p->height > 0)
        return;
    p->width = p->height = 0;
    if (p->path && ddp_picture_file_look(&file, p->path) && (file.width > 1 || file.height > 1)) {
        p->width = file.width;
        p->height = file.height;
    }
}

/* By orientation, from 1: where a stored point (x, y) is seen. transposed: x and y change places
 * first. */
static const struct turn {
    int transposed, right_to_left, bottom_to_top;
} turns[] = {{0, 0, 0}, {0, 1, 0}, {0, 1, 1}, {0, 0, 1},
             {1, 0, 0}, {1, 1, 0}, {1, 1, 1}, {1, 0, 1}};

void ddp_box_turn(ddp_annotated_box *b, int orientation)
{
    const struct turn *t = &turns[orientation - 1];
    ddp_annotated_box was = *b;

    if (t->transposed) {
        b->left = was.top;
        b->right = was.bottom;
        b->top = was.left;
        b->bottom = was.right;
        was = *b;
    }
    if (t->right_to_left) {
        b->left = 1 - was.right;
        b->right = 1 - was.left;
    }
    if (t->bottom_to_top) {
        b->top = 1 - was.bottom;
        b->bottom = 1 - was.top;
    }
}
