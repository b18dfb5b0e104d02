#include "eval/suspects.h"

#include <stdlib.h>
#include <string.h>

static const double same_thing = 0.9;   /* IoU of two labels from which they are one thing's */
static const double found_at = 0.5;     /* IoU from which a find is at the place of a label */
static const double beside = 0.1;       /* IoU from which a find may be what a label means */
static const double shadow = 0.6;       /* IoU from which a find is the likelier one's again */
static const double prior_odds = 0.01;  /* of a label being wrong, before any evidence */
static const double least_doubt = 0.02; /* less is not listed */
static const double few =
    10; /* right labels and finds that are supposed besides, so that the first one is not all */

/* A fact about a label or a find. Each is compared with those of its class and kind. */
struct ddp_suspect_evidence {
    int class_id;          /* the label's; if another class is found, that one */
    ddp_suspect_kind kind; /* of the suspect; of a find without fault MISSING, of a label EXTRA */
    int is_fault;          /* 0: a label that is found, or a find at a label: it only counts */
    double strength;       /* from 0 to 1 */
    size_t suspect;        /* of s->list, plus 1; 0: none */
};

const char *ddp_suspect_word(ddp_suspect_kind kind)
{
    static const char *const words[DDP_SUSPECT_KINDS] = {"twice", "class", "place", "missing",
                                                         "extra"};

    return words[kind];
}

/* Make room for one element more. Returns 0; -1 if there is no memory. */
static int make_room(void **all, size_t count, size_t *room, size_t size)
{
    size_t more = *room ? 2 * *room : 256;
    void *grown;

    if (count < *room)
        return 0;
    grown = realloc(*all, more * size);
    if (!grown)
        return -1;
    *all = grown;
    *room = more;
    return 0;
}

static int add_suspect(ddp_suspects *s, const ddp_suspect *suspect)
{
    void *list = s->list;

    if (make_room(&list, s->count, &s->room, sizeof *s->list))
        return -1;
    s->list = list;
    s->list[s->count++] = *suspect;
    return 0;
}

/* Add evidence; if it is_fault, for the suspect that was added last. */
static int add_evidence(ddp_suspects *s, struct ddp_suspect_evidence e)
{
    void *all = s->evidence;

    if (make_room(&all, s->evidence_count, &s->evidence_room, sizeof *s->evidence))
        return -1;
    s->evidence = all;
    e.suspect = e.is_fault ? s->count : 0;
    s->evidence[s->evidence_count++] = e;
    return 0;
}

/* ---- a picture ---- */

/* A find that no likelier find of any class has at its place. */
struct find {
    const ddp_detection *d;
    int is_at_label;
    const ddp_label_truth *explains; /* the label that it may explain; NULL: none */
};

static double own_score(const ddp_truth *label, const ddp_detection *found, size_t count)
{
    for (size_t i = 0; i < count; i++) /* the likeliest first */
        if (found[i].class_id == label->class_id
            && ddp_box_iou(&found[i].box, &label->box) >= found_at)
            return found[i].score;
    return 0;
}

static int is_shadow(const struct find *finds, size_t count, const ddp_detection *d)
{
    for (size_t i = 0; i < count; i++)
        if (ddp_box_iou(&finds[i].d->box, &d->box) >= shadow)
            return 1;
    return 0;
}

static int are_equal(const ddp_box *a, const ddp_box *b)
{
    return a->left == b->left && a->top == b->top && a->width == b->width && a->height == b->height;
}

enum { FIRST = 1, SECOND };

/* Add the pairs of labels on one thing, and mark their labels in pairs: FIRST, SECOND. */
static int add_twice(ddp_suspects *s, uint32_t picture, const ddp_label_truth *labels, size_t count,
                     char *pairs)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i && !pairs[i]; k++) {
            const ddp_box *a = &labels[k].truth.box, *b = &labels[i].truth.box;
            const ddp_suspect pair = {.kind = DDP_SUSPECT_TWICE,
                                      .picture = picture,
                                      .doubt = 1,
                                      .label = labels[k],
                                      .other = labels[i],
                                      .has_other = 1};

            if (pairs[k] == SECOND || (!are_equal(a, b) && ddp_box_iou(a, b) < same_thing))
                continue;
            pairs[k] = FIRST;
            pairs[i] = SECOND;
            if (add_suspect(s, &pair))
                return -1;
        }
    return 0;
}

/* Return the label that find f may explain: it overlaps, its own class is found there much less,
 * and either it is of this class or f is at its place. */
static const ddp_label_truth *explained(const struct find *f, const ddp_label_truth *labels,
                                        const double *own, size_t count)
{
    const ddp_label_truth *best = NULL;
    double most = beside;

    for (size_t i = 0; i < count; i++) {
        double iou = ddp_box_iou(&f->d->box, &labels[i].truth.box);

        if (own[i] > f->d->score / 2 || iou < most
            || (iou < found_at && labels[i].truth.class_id != f->d->class_id))
            continue;
        most = iou;
        best = &labels[i];
    }
    return best;
}

/* Set finds to those of found that are nobody's shadow, and what each has to do with the labels.
 * own: score of each label. Returns how many. */
static size_t choose_finds(struct find *finds, const ddp_label_truth *labels, const double *own,
                           size_t label_count, const ddp_detection *found, size_t found_count)
{
    size_t count = 0;

    for (size_t i = 0; i < found_count; i++) {
        struct find f = {.d = &found[i]};

        if (is_shadow(finds, count, &found[i]))
            continue;
        for (size_t k = 0; k < label_count && !f.is_at_label; k++)
            f.is_at_label = labels[k].truth.class_id == found[i].class_id
                            && ddp_box_iou(&labels[k].truth.box, &found[i].box) >= found_at;
        if (!f.is_at_label)
            f.explains = explained(&f, labels, own, label_count);
        finds[count++] = f;
    }
    return count;
}

static int add_find(ddp_suspects *s, uint32_t picture, const struct find *f)
{
    const ddp_suspect missing = {
        .kind = DDP_SUSPECT_MISSING,
        .picture = picture,
        .other.truth = {.picture = picture, .class_id = f->d->class_id, .box = f->d->box},
        .has_other = 1,
        .score = f->d->score};

    if (!f->is_at_label && add_suspect(s, &missing))
        return -1;
    return add_evidence(s, (struct ddp_suspect_evidence){.class_id = f->d->class_id,
                                                         .kind = DDP_SUSPECT_MISSING,
                                                         .is_fault = !f->is_at_label,
                                                         .strength = f->d->score});
}

/* Add a label, with the likeliest find that explains it, which is then taken out of finds. */
static int add_label(ddp_suspects *s, uint32_t picture, const ddp_label_truth *label, double own,
                     struct find *finds, size_t find_count)
{
    ddp_suspect suspect = {.kind = DDP_SUSPECT_EXTRA, .picture = picture, .label = *label};
    int class_id = label->truth.class_id;
    double strength = 1 - own;
    struct find *f = NULL;

    for (size_t i = 0; i < find_count && !f; i++)
        f = finds[i].d && finds[i].explains == label ? &finds[i] : NULL;
    if (f) {
        int is_place = f->d->class_id == class_id;

        class_id = f->d->class_id;
        suspect.kind = is_place ? DDP_SUSPECT_PLACE : DDP_SUSPECT_CLASS;
        suspect.other.truth =
            (ddp_truth){.picture = picture, .class_id = f->d->class_id, .box = f->d->box};
        suspect.has_other = 1;
        suspect.score = f->d->score;
        strength *= f->d->score;
        if (is_place)
            strength *= 1 - ddp_box_iou(&f->d->box, &label->truth.box);
        f->d = NULL;
    }
    if (add_suspect(s, &suspect))
        return -1;
    return add_evidence(
        s, (struct ddp_suspect_evidence){
               .class_id = class_id, .kind = suspect.kind, .is_fault = 1, .strength = strength});
}

int ddp_suspects_add(ddp_suspects *s, uint32_t picture, const ddp_label_truth *labels,
                     size_t label_count, const ddp_detection *found, size_t found_count)
{
    double *own = calloc(label_count + 1, sizeof *own);
    struct find *finds = calloc(found_count + 1, sizeof *finds);
    char *pairs = calloc(label_count + 1, 1);
    int failed = !own || !finds || !pairs;
    size_t count = 0;

    for (size_t i = 0; !failed && i < label_count; i++)
        own[i] = own_score(&labels[i].truth, found, found_count);
    failed = failed || add_twice(s, picture, labels, label_count, pairs);
    if (!failed)
        count = choose_finds(finds, labels, own, label_count, found, found_count);
    for (size_t i = 0; !failed && i < label_count; i++)
        if (!pairs[i])
            failed = add_label(s, picture, &labels[i], own[i], finds, count);
    for (size_t i = 0; !failed && i < count; i++)
        if (finds[i].d)
            failed = add_find(s, picture, &finds[i]);
    s->labels += label_count;
    free(own);
    free(finds);
    free(pairs);
    return failed ? -1 : 0;
}

/* ---- the ranking ---- */

/* By class and kind, then by falling strength. */
static int by_evidence(const void *a, const void *b)
{
    const struct ddp_suspect_evidence *x = a, *y = b;

    if (x->class_id != y->class_id)
        return x->class_id - y->class_id;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->strength < y->strength) - (x->strength > y->strength);
}

/* Doubt the suspects of one class and kind: all[0..count), sorted. A find is the more suspicious,
 * the fewer of those that are as sure have no label. Of the others, one is the more suspicious, the
 * fewer of the `labels` of its class look as bad. */
static void doubt_alike(ddp_suspects *s, const struct ddp_suspect_evidence *all, size_t count,
                        size_t labels)
{
    size_t faults = 0, end;

    for (size_t i = 0; i < count; i = end) {
        double among, odds;

        for (end = i; end < count && all[end].strength == all[i].strength; end++)
            faults += (size_t)all[end].is_fault;
        among = (double)(all[i].kind == DDP_SUSPECT_MISSING ? end : labels);
        odds = prior_odds * all[i].strength * (among + few) / (double)(faults + 1);
        for (size_t k = i; k < end; k++)
            if (all[k].suspect)
                s->list[all[k].suspect - 1].doubt = odds / (1 + odds);
    }
}

/* Doubt the suspects of one class: all[0..count), sorted by kind. */
static void doubt_class(ddp_suspects *s, const struct ddp_suspect_evidence *all, size_t count)
{
    size_t labels = 0;

    for (size_t i = 0; i < count; i++)
        labels += all[i].kind != DDP_SUSPECT_MISSING;
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && all[end].kind == all[i].kind;)
            end++;
        doubt_alike(s, all + i, end - i, labels);
    }
}

static int by_doubt(const void *a, const void *b)
{
    const ddp_suspect *x = a, *y = b;

    if (x->doubt != y->doubt)
        return x->doubt < y->doubt ? 1 : -1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->picture != y->picture)
        return x->picture < y->picture ? -1 : 1;
    if (x->label.line != y->label.line)
        return x->label.line - y->label.line;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return (x->other.truth.box.left > y->other.truth.box.left)
           - (x->other.truth.box.left < y->other.truth.box.left);
}

void ddp_suspects_rank(ddp_suspects *s)
{
    size_t kept = 0;

    if (s->evidence_count > 0)
        qsort(s->evidence, s->evidence_count, sizeof *s->evidence, by_evidence);
    for (size_t i = 0, end; i < s->evidence_count; i = end) {
        for (end = i;
             end < s->evidence_count && s->evidence[end].class_id == s->evidence[i].class_id;)
            end++;
        doubt_class(s, s->evidence + i, end - i);
    }
    for (size_t i = 0; i < s->count; i++)
        if (s->list[i].doubt >= least_doubt)
            s->list[kept++] = s->list[i];
    s->count = kept;
    if (s->count > 0)
        qsort(s->list, s->count, sizeof *s->list, by_doubt);
}

void ddp_suspects_release(ddp_suspects *s)
{
    free(s->list);
    free(s->evidence);
    *s = (ddp_suspects){0};
}
