#include "check/label.h"

#include "base/cfg_text.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 5 };

struct reading {
    ddp_faults *f;
    const char *path;
    const ddp_label_rules *rules;
    int line;
    size_t rows;  /* lines with a box, good or not */
    size_t twice; /* boxes that an earlier line has, too */
    int pixels;   /* 1: it was said that numbers look like pixels */
};

/* Split a line into words, at most one more than there should be, at what sscanf takes for blanks.
 * Returns how many. */
static int split(char *line, char **words)
{
    static const char blanks[] = " \t\r\n\v\f";
    int n = 0;

    for (char *word = strtok(line, blanks); word && n <= COLUMNS; word = strtok(NULL, blanks))
        words[n++] = word;
    return n;
}

/* Read a number as the loader does: "%f", below a million, neither hexadecimal nor a word. */
static int read_number(struct reading *r, const char *word, double *value)
{
    char *end;

    *value = (double)strtof(word, &end);
    if (end != word && !*end && !strpbrk(word, "nNxX") && fabs(*value) < 1e6)
        return 1;
    if (end != word && !*end) {
        ddp_fault_add(r->f, DDP_FAULT_ERROR, "label-number", r->path, r->line,
                      "'%.40s' is no number that training reads: .5 or 0.5 or 5e-1 is", word);
        return 0;
    }
    ddp_fault_add(r->f, DDP_FAULT_ERROR, "label-number", r->path, r->line, "'%.40s' is no number",
                  word);
    return 0;
}

/* Return 1 for a whole number, else add a fault: the loader reads a class with "%d", so 0.0 and 1e0
 * are none. */
static int is_whole(struct reading *r, const char *word)
{
    size_t sign = word[0] == '-' || word[0] == '+';
    char *end;

    if (word[sign] && !word[sign + strspn(word + sign, "0123456789")])
        return 1;
    (void)strtof(word, &end);
    if (*end)
        ddp_fault_add(r->f, DDP_FAULT_ERROR, "label-number", r->path, r->line,
                      "'%.40s' is no number", word);
    else
        ddp_fault_add(r->f, DDP_FAULT_ERROR, "label-class", r->path, r->line,
                      "class %.40s is no whole number: training reads a class of digits alone",
                      word);
    return 0;
}

static int check_class(struct reading *r, const char *word, int *class_id)
{
    int classes = r->rules->classes;
    long value;
    char *end;

    if (!is_whole(r, word))
        return 0;
    value = strtol(word, &end, 10);
    *class_id = (int)value;
    if (value < 0 || value > INT_MAX || (classes > 0 && value >= classes)) {
        ddp_fault_add(r->f, DDP_FAULT_ERROR, "label-class", r->path, r->line,
                      classes > 0 ? "class %s is not one of 0 to %d" : "class %s is none", word,
                      classes - 1);
        return 0;
    }
    return 1;
}

static int are_up_to(const double *v, double most)
{
    return v[0] <= most && v[1] <= most && v[2] <= most && v[3] <= most;
}

/* Add a fault, once a file: numbers of this size are pixels, most likely with the corner in place
 * of the centre, or percentages. */
static void say_pixels(struct reading *r, const double *v)
{
    char size[64] = "the picture's width and height";
    int may_be_percent = are_up_to(v, 100);

    if (r->pixels++)
        return;
    if (r->rules->width > 1)
        (void)snprintf(size, sizeof size, "%d and %d", r->rules->width, r->rules->height);
    ddp_fault_add(
        r->f, DDP_FAULT_ERROR, "label-pixels", r->path, r->line,
        "%g %g %g %g are pixels%s; fractions of the picture are wanted: divide x and width, "
        "y and height by %s%s (x, y: the middle of the box)",
        v[0], v[1], v[2], v[3], may_be_percent ? " or percentages" : "", size,
        may_be_percent ? ", percentages by 100" : "");
}

/* Bring a fraction of the picture into it that rounding has put beyond its edge. */
static double cut_rounding(double v)
{
    const double rounding = 1e-6; /* of six digits, or of a float */

    return v > 1 && v <= 1 + rounding ? 1 : v < 0 && v >= -rounding ? 0 : v;
}

static int check_box(struct reading *r, const double *v)
{
    if (!are_up_to(v, 2)) {
        say_pixels(r, v);
        return 0;
    }
    if (v[2] <= 0 || v[3] <= 0) {
        ddp_fault_add(r->f, DDP_FAULT_ERROR, v[2] < 0 || v[3] < 0 ? "label-size" : "label-zero",
                      r->path, r->line, "a box of width %.8g and height %.8g", v[2], v[3]);
        return 0;
    }
    if (v[0] < 0 || v[0] > 1 || v[1] < 0 || v[1] > 1 || v[2] > 1 || v[3] > 1) {
        ddp_fault_add(r->f, DDP_FAULT_ERROR, "label-range", r->path, r->line,
                      "%.8g %.8g %.8g %.8g are not all fractions of the picture, 0 to 1", v[0],
                      v[1], v[2], v[3]);
        return 0;
    }
    if (v[2] < .001 || v[3] < .001)
        ddp_fault_add(r->f, DDP_FAULT_WARNING, "label-tiny", r->path, r->line,
                      "training leaves out a box of less than a thousandth of the picture");
    return 1;
}

static int check_line(struct reading *r, char *line, ddp_label_box *box)
{
    char *words[COLUMNS + 1];
    double v[COLUMNS - 1];
    int n;

    if (!line[strspn(line, " \t\r\n")])
        return 0;
    n = split(line, words);
    r->rows++;
    if (n != COLUMNS) {
        ddp_fault_add(r->f, DDP_FAULT_ERROR, "label-columns", r->path, r->line,
                      "%s%d column%s, and CLASS X Y WIDTH HEIGHT are five",
                      n > COLUMNS ? "more than " : "", n > COLUMNS ? COLUMNS : n,
                      n == 1 ? "" : "s");
        return 0;
    }
    if (!check_class(r, words[0], &box->class_id))
        return 0;
    for (int i = 0; i < COLUMNS - 1; i++)
        if (!read_number(r, words[i + 1], &v[i]))
            return 0;
    for (int i = 0; i < COLUMNS - 1; i++)
        v[i] = cut_rounding(v[i]);
    *box = (ddp_label_box){box->class_id, (float)v[0], (float)v[1], (float)v[2], (float)v[3]};
    return check_box(r, v);
}

static int is_in(const ddp_label_box *boxes, size_t count, const ddp_label_box *box)
{
    for (size_t i = 0; i < count; i++)
        if (boxes[i].class_id == box->class_id && boxes[i].x == box->x && boxes[i].y == box->y
            && boxes[i].w == box->w && boxes[i].h == box->h)
            return 1;
    return 0;
}

static void check_count(const struct reading *r)
{
    if (r->twice > 0)
        ddp_fault_add(r->f, DDP_FAULT_WARNING, "label-twice", r->path, 0,
                      "%zu line%s twice: the same class and box", r->twice,
                      r->twice == 1 ? " stands" : "s stand");
    if (r->rules->most > 0 && r->rows > (size_t)r->rules->most)
        ddp_fault_add(r->f, DDP_FAULT_ERROR, "label-many", r->path, 0,
                      "%zu boxes, and training takes %d of a picture: put max=%zu into the last "
                      "section of the cfg",
                      r->rows, r->rules->most, r->rows);
}

size_t ddp_check_label(ddp_faults *f, const char *path, const ddp_label_rules *rules,
                       ddp_label_file *kind, void (*found)(void *ctx, const ddp_label_box *box),
                       void *ctx)
{
    enum { COMPARED = 256 };
    struct reading r = {.f = f, .path = path, .rules = rules};
    ddp_label_box box, seen[COMPARED];
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t size = 0, good = 0;
    ssize_t bytes;

    *kind = file ? DDP_LABEL_EMPTY : DDP_LABEL_NONE;
    if (!file) {
        if (errno != ENOENT || rules->missing_is_error)
            ddp_fault_add(f, DDP_FAULT_ERROR, "label-unreadable", path, 0, "cannot be read: %s",
                          strerror(errno));
        return 0;
    }
    while ((bytes = getline(&line, &size, file)) >= 0) {
        size_t mark = r.line++ == 0 ? ddp_byte_order_mark(line, (size_t)bytes) : 0;

        ddp_check_bom(f, path, mark > 0);
        if (memchr(line, 0, (size_t)bytes)) {
            ddp_fault_add(f, DDP_FAULT_ERROR, "label-zeros", path, r.line, "%s",
                          ddp_has_zeros(line, r.line == 1 ? (size_t)bytes : 0));
            *kind = DDP_LABEL_LINES;
            break;
        }
        if (!check_line(&r, line + mark, &box))
            continue;
        r.twice += (size_t)is_in(seen, good < COMPARED ? good : COMPARED, &box);
        if (good < COMPARED)
            seen[good] = box;
        good++;
        found(ctx, &box);
    }
    if (ferror(file))
        ddp_fault_add(f, DDP_FAULT_ERROR, "label-unreadable", path, 0, "cannot be read: %s",
                      strerror(errno));
    if (r.rows > 0)
        *kind = DDP_LABEL_LINES;
    check_count(&r);
    free(line);
    (void)fclose(file);
    return good;
}
