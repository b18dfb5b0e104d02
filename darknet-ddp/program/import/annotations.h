/* import/annotations.h: a set of annotated pictures in memory, for `darknet ddp import`.
 *
 *  1. A reader (readers.h) adds the classes, pictures and boxes of a source to the set.
 *  2. prepare.h compares them with the picture files, and drops what cannot be trained on.
 *  3. split.h chooses the pictures for validation.
 *  4. write.h writes the set as Darknet reads it.
 *
 * The first two count what is odd in the set, such as a box beyond its picture. Functions that add
 * something set `lost` if there is no memory. The caller of a reader checks `lost` once, at the
 * end. */
#ifndef DDP_IMPORT_ANNOTATIONS_H
#define DDP_IMPORT_ANNOTATIONS_H

#include <stddef.h>
#include <stdio.h>

/* Kinds of oddities, such as a box beyond its picture: DDP_ODD_ID for each row of oddities.def. */
typedef enum ddp_oddity {
#define ODDITY(ID, ...) DDP_ODD_##ID,
#include "import/oddities.def"
    DDP_ODDITIES
} ddp_oddity;

enum { DDP_ODD_EXAMPLES = 3 }; /* most examples that are kept of each oddity */

/* Whether a picture is for training, for validation or for a test. */
typedef enum ddp_side {
    DDP_SIDE_UNKNOWN, /* the source does not say */
    DDP_SIDE_TRAIN,   /* a training picture, for the list train= */
    DDP_SIDE_VALID,   /* a validation picture, for the list valid= */
    DDP_SIDE_TEST     /* a picture of a test set, for no list */
} ddp_side;

/* A box. left and right are fractions of the picture's width, top and bottom of its height. */
typedef struct ddp_annotated_box {
    size_t picture;   /* index of the box's picture in the set */
    int class_id;     /* index of the box's class in the set */
    size_t source;    /* index of the annotation file that has the box, in the set's `sources` */
    long long object; /* number of the box in its annotation file: its line, or COCO's id */
    unsigned odd;     /* oddities that ddp_annotations_prepare counts: bits 1 << ddp_oddity */
    double left, top, right, bottom;
} ddp_annotated_box;

typedef struct ddp_annotated_picture {
    char *path;  /* path of the picture file; NULL: none was found, or the picture is left out */
    char *named; /* the picture's name in the source, for messages */
    double width, height; /* size in pixels, as the source says, or else the file; 0: unknown */
    ddp_side side;
    size_t boxes; /* number of boxes that stay, set by ddp_annotations_prepare */
} ddp_annotated_picture;

/* A set of pictures and their boxes. All zero: empty. Release with ddp_annotations_release. */
typedef struct ddp_annotations {
    char **classes; /* names of the classes */
    size_t class_count;
    int is_closed; /* 1: no class may be added, and boxes of other classes are left out */

    ddp_annotated_picture *pictures;
    size_t picture_count, picture_room;
    ddp_annotated_box *boxes;
    size_t box_count, box_room;

    char **sources; /* absolute paths of the annotation files */
    size_t source_count, source_room;
    /* meaning of the number `object` of a box: "line" or "annotation id" */
    const char *object_word;

    size_t odd[DDP_ODDITIES];                       /* by kind: number of oddities counted */
    char *examples[DDP_ODDITIES][DDP_ODD_EXAMPLES]; /* by kind: places of the first; NULL: none */
    int lost; /* 1: something could not be added for want of memory */
} ddp_annotations;

/* Free all that *a holds, and make it all zero. */
void ddp_annotations_release(ddp_annotations *a);

/* Find the class with this name, or add it. Returns its index; -1 without memory. If classes are
 * closed and have no such name, counts a DDP_ODD_CLASS at `where`, and returns -1. */
int ddp_annotations_add_class(ddp_annotations *a, const char *name, const char *where);

/* Sort the classes by their names, for a source that has no order of its own; boxes get the new
 * indices. Does nothing if a->is_closed is 1. */
void ddp_annotations_sort_classes(ddp_annotations *a);

/* Add a picture and return its index. Without memory, adds nothing, sets a->lost, frees path, and
 * returns picture_count.
 *   path   path of the file, which the set frees; NULL: it was not found, which is counted as odd
 *   named  name of the picture in the source; copied */
size_t ddp_annotations_add_picture(ddp_annotations *a, char *path, const char *named,
                                   ddp_side side);

/* Add the whole path of an annotation file, and return its index in a->sources. If it cannot be
 * added, sets a->lost, and returns source_count. */
size_t ddp_annotations_add_source(ddp_annotations *a, const char *path);

/* Add a copy of a box, whose class must be in the set. Does nothing if the set lacks the box's
 * picture. */
void ddp_annotations_add_box(ddp_annotations *a, const ddp_annotated_box *box);

/* Count an oddity. where: name of the file, picture or entry that is odd, for the examples. */
void ddp_annotations_add_odd(ddp_annotations *a, ddp_oddity kind, const char *where);

/* Return the kind with the name `word` (oddities.def); DDP_ODDITIES: there is none. */
ddp_oddity ddp_oddity_find(const char *word);

/* Return 1 if -leave accepts the kind's name. kind must not be DDP_ODDITIES. */
int ddp_oddity_is_choice(ddp_oddity kind);

/* Print, for each kind of which there are some, how many, what was done with them, and examples.
 * left: kinds that are left out by -leave, as bits 1 << kind. */
void ddp_annotations_print_odd(FILE *out, const ddp_annotations *a, unsigned left);

#endif
