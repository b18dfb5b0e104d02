/* import/annotations.h: pictures with their boxes, as an annotation format has them, in memory.
 *
 *  1. A reader (readers.h) adds classes, pictures and boxes, and counts what is odd.
 *  2. prepare.h compares them with the picture files, and drops what cannot be trained on.
 *  3. split.h says which pictures are kept for validation; write.h writes all of it.
 *
 * Functions that add something set `lost` if there is no memory for it. The caller of a reader
 * looks at `lost` once, at the end. */
#ifndef DDP_IMPORT_ANNOTATIONS_H
#define DDP_IMPORT_ANNOTATIONS_H

#include <stddef.h>
#include <stdio.h>

/* Kinds of oddities, such as a box beyond its picture: DDP_ODD_ID for a row of oddities.def. */
typedef enum ddp_oddity {
#define ODDITY(ID, ...) DDP_ODD_##ID,
#include "import/oddities.def"
    DDP_ODDITIES
} ddp_oddity;

enum { DDP_ODD_EXAMPLES = 3 }; /* examples that are kept of each kind, at most */

/* List of pictures (for training or validation) to which a picture belongs. */
typedef enum ddp_side {
    DDP_SIDE_UNKNOWN, /* the source does not say */
    DDP_SIDE_TRAIN,
    DDP_SIDE_VALID,
    DDP_SIDE_TEST /* a picture of a test set, which is on no list */
} ddp_side;

/* A box. Its sides are fractions of the picture's width and height. */
typedef struct ddp_annotated_box {
    size_t picture;   /* index of the box's picture in the set */
    int class_id;     /* index of the box's class in the set */
    size_t source;    /* index of the annotation file that has the box, in the set's `sources` */
    long long object; /* which of the file's objects it is: a line, or COCO's id */
    unsigned odd; /* bits 1 << kind (ddp_oddity) of the box's oddities, to be counted; 0: none */
    double left, top, right, bottom;
} ddp_annotated_box;

typedef struct ddp_annotated_picture {
    char *path;  /* path of the picture file; NULL: none was found, or the picture is left out */
    char *named; /* the picture's name in the source, for messages */
    double width, height; /* pixels, as the source says or, if it says none, the file; 0: unknown */
    ddp_side side;
    size_t boxes; /* boxes of the picture that stay; set by ddp_annotations_prepare */
} ddp_annotated_picture;

/* A set of pictures and their boxes. All zero: empty. Release with ddp_annotations_release. */
typedef struct ddp_annotations {
    char **classes; /* names */
    size_t class_count;
    int is_closed; /* 1: no class may be added; a box of any other class is left out */

    ddp_annotated_picture *pictures;
    size_t picture_count, picture_room;
    ddp_annotated_box *boxes;
    size_t box_count, box_room;

    char **sources; /* whole paths of the annotation files */
    size_t source_count, source_room;
    const char *object_word; /* word for the number `object` of a box: "line"; the reader sets it */

    size_t odd[DDP_ODDITIES]; /* by kind (ddp_oddity): number of oddities counted */
    /* by kind: where the first oddities are, strings that the set frees; NULL: no more */
    char *examples[DDP_ODDITIES][DDP_ODD_EXAMPLES];
    int lost; /* 1: something is missing for want of memory */
} ddp_annotations;

/* Free all that *a holds, and make it all zero. */
void ddp_annotations_release(ddp_annotations *a);

/* Return the index of the class of this name. A new one is added or, if classes are closed, counted
 * as DDP_ODD_CLASS at `where`. Returns -1 if it was not added: also without memory. */
int ddp_annotations_class(ddp_annotations *a, const char *name, const char *where);

/* Sort the classes by the bytes of their names, for a source that has no order of its own. Does
 * nothing if they are closed. */
void ddp_annotations_sort_classes(ddp_annotations *a);

/* Add a picture and return its index. Without memory nothing is added, and a->picture_count is
 * returned.
 *   path   the file, which the set frees; NULL: it was not found, which is counted
 *   named  what the source calls it; copied */
size_t ddp_annotations_picture(ddp_annotations *a, char *path, const char *named, ddp_side side);

/* Add the whole path of an annotation file. Returns its index in a->sources; without memory that of
 * the next one. */
size_t ddp_annotations_source(ddp_annotations *a, const char *path);

/* Add a copy of a box. Its class must be there. A box without its picture (box->picture is no index
 * of one) is dropped. */
void ddp_annotations_box(ddp_annotations *a, const ddp_annotated_box *box);

/* Count something odd. where: which file, picture or entry; copied for the first ones. */
void ddp_annotations_odd(ddp_annotations *a, ddp_oddity kind, const char *where);

/* Return the kind that is called `word`; DDP_ODDITIES: none is. */
ddp_oddity ddp_oddity_find(const char *word);

/* Return 1 if `-leave` may name the kind: the others are always treated in one way. */
int ddp_oddity_is_choice(ddp_oddity kind);

/* Print a line for each kind that was counted. It says how often, what was done, and examples.
 * left: 1 << kind for each kind that was left out by choice. */
void ddp_annotations_print_odd(FILE *out, const ddp_annotations *a, unsigned left);

#endif
