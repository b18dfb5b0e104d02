#include "predict/draw.h"

#include <darknet.h>
#include <stdio.h>
#include <stdlib.h>

/* Function of Darknet's image.c: channel c of colour x of max. */
extern float get_color(int c, int x, int max);

enum { LETTERS_FIRST = 32, LETTERS_END = 127, LETTER_SIZES = 8 }; /* as load_alphabet has them */

struct ddp_drawer {
    char *const *names;
    int classes;
    image **letters; /* NULL: they are not there, and names are not drawn */
};

ddp_drawer *ddp_drawer_open(char *const *names, int classes)
{
    ddp_drawer *d = calloc(1, sizeof *d);

    if (d)
        *d = (ddp_drawer){.names = names, .classes = classes, .letters = load_alphabet()};
    return d;
}

void ddp_drawer_close(ddp_drawer *d)
{
    if (!d)
        return;
    for (int size = 0; d->letters && size < LETTER_SIZES; size++) {
        for (int i = LETTERS_FIRST; i < LETTERS_END; i++)
            free_image(d->letters[size][i]);
        free(d->letters[size]);
    }
    free(d->letters);
    free(d);
}

static image image_of(const ddp_prediction *p)
{
    return (image){.w = p->width, .h = p->height, .c = 3, .data = p->pixels};
}

static int within(double x, int most)
{
    return x < 0 ? 0 : x > most ? most : (int)x;
}

/* text stands at the box's top line, or at its bottom line. */
static void draw_box_of(const ddp_drawer *d, image im, const ddp_box *b, int class_id, int thick,
                        int above, char *text)
{
    int colour = (int)(class_id * 123457L % d->classes);
    const float rgb[] = {get_color(2, colour, d->classes), get_color(1, colour, d->classes),
                         get_color(0, colour, d->classes)};
    int left = within(b->left * im.w, im.w - 1), top = within(b->top * im.h, im.h - 1);
    int right = within((b->left + b->width) * im.w, im.w - 1);
    int bottom = within((b->top + b->height) * im.h, im.h - 1);

    draw_box_width(im, left, top, right, bottom, thick, rgb[0], rgb[1], rgb[2]);
    if (d->letters) {
        image label = get_label(d->letters, text, (int)(im.h * .03));

        draw_label(im, above ? top + thick : bottom, left, label, rgb);
        free_image(label);
    }
}

static int are_one_box(const ddp_box *a, const ddp_box *b)
{
    return a->left == b->left && a->top == b->top && a->width == b->width && a->height == b->height;
}

/* Return 1 if another class of this box is likelier: its label names both. */
static int is_named_by_another(const ddp_prediction *p, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (are_one_box(&p->found[k].box, &p->found[i].box))
            return 1;
    return 0;
}

static void draw_found(const ddp_drawer *d, const ddp_prediction *p, size_t i)
{
    int thick = p->height * 6 / 1000;
    char text[1024] = "";
    size_t used = 0;

    for (size_t k = i; k < p->count && used < sizeof text; k++)
        if (are_one_box(&p->found[k].box, &p->found[i].box))
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%s%s %.0f%%", used ? ", " : "",
                                 d->names[p->found[k].class_id], 100 * p->found[k].score);
    draw_box_of(d, image_of(p), &p->found[i].box, p->found[i].class_id, thick > 0 ? thick : 1, 1,
                text);
}

void ddp_draw_boxes(ddp_drawer *d, ddp_prediction *p, const ddp_truth *truths, size_t count)
{
    for (size_t i = 0; i < count; i++)
        draw_box_of(d, image_of(p), &truths[i].box, truths[i].class_id, 1, 0,
                    d->names[truths[i].class_id]);
    for (size_t i = p->count; i-- > 0;) /* the likeliest last, above the others */
        if (!is_named_by_another(p, i))
            draw_found(d, p, i);
}

void ddp_prediction_save_jpeg(const ddp_prediction *p, const char *path)
{
    save_image(image_of(p), path);
}

void ddp_prediction_copy_rgb(const ddp_prediction *p, unsigned char *rgb)
{
    size_t plane = (size_t)p->width * (size_t)p->height;

    for (size_t c = 0; c < 3; c++)
        for (size_t i = 0; i < plane; i++)
            rgb[3 * i + c] = (unsigned char)(255 * p->pixels[c * plane + i] + 0.5F);
}
