#include "eval/suspects.h"

#include "eval/places.h"

#include <math.h>
#include <stdlib.h>

static const double same_thing = 0.9;   /* IoU of two labels from which they are one thing's */
static const double least_score = 0.05; /* of a find that is looked at for itself */
static const double shadow = 0.6;       /* IoU from which a find is the surer one's again */
static const double prior_odds = 0.01;  /* of a label being wrong, before any evidence */
static const double loss_odds = 0.002;  /* of a label being wrong, times e^loss - 1 */
static const double unsure = 0.3;       /* keeps the odds of a strength of 1 finite */
static const double least_doubt = 0.02; /* less is not listed */
static const double few =
    10; /* right labels and finds that are supposed besides, so that the first one is not all */

/* A fact about a label or a find. Each is compared with those of its class and kind. */
struct ddp_suspect_evidence {
    int class_id;          /* the label's; if another class is found, that one */
    ddp_suspect_kind kind; /* of the suspect; of a find without fault MISSING */
    int is_fault;          /* 0: a find at a label, which only counts */
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

/* A find whose place no surer find has. */
struct find {
    const ddp_detection *d; /* NULL: it explains a label, or has a surer find's place */
    ddp_seen_at place;
    double near;                     /* from 0 to 1: how near it is to a label */
    const ddp_label_truth *explains; /* the label that it may explain; NULL: none */
};

static int by_sureness(const void *a, const void *b)
{
    const struct find *x = a, *y = b;

    if (x->place.sure != y->place.sure)
        return x->place.sure < y->place.sure ? 1 : -1;
    if (x->d->score != y->d->score)
        return x->d->score < y->d->score ? 1 : -1;
    return x->d < y->d ? -1 : x->d > y->d;
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

/* See what find f has to do with the labels, of which `places` are what is seen there. It explains
 * the label that it overlaps most, if far less is seen at that. */
static void compare(struct find *f, const ddp_label_truth *labels, const ddp_seen_at *places,
                    size_t count)
{
    size_t nearest = 0;
    double most = 0;

    for (size_t i = 0; i < count; i++) {
        double iou = ddp_box_iou(&f->d->box, &labels[i].truth.box);

        if (iou > most) {
            most = iou;
            nearest = i;
        }
    }
    if (most == 0)
        return;
    f->near = ddp_box_nearness(&f->d->box, &labels[nearest].truth.box);
    if (f->near > 0 && f->near < 1 && places[nearest].sure < f->place.sure / 2)
        f->explains = &labels[nearest];
}

/* Set finds to what is seen, but for shadows, and compare each with the labels. Returns how many.
 */
static size_t choose_finds(struct find *finds, const ddp_view_finds *seen,
                           const ddp_label_truth *labels, const ddp_seen_at *places,
                           size_t label_count)
{
    size_t all = 0, count = 0;

    for (size_t i = 0; i < seen->count; i++)
        if (seen->all[i].score >= least_score) {
            const ddp_detection *d = &seen->all[i];

            finds[all++] = (struct find){.d = d, .place = ddp_look_at(seen, &d->box, d->class_id)};
        }
    if (all > 0)
        qsort(finds, all, sizeof *finds, by_sureness);
    for (size_t i = 0; i < all; i++) {
        struct find f = finds[i];

        if (is_shadow(finds, count, f.d))
            continue;
        compare(&f, labels, places, label_count);
        finds[count++] = f;
    }
    return count;
}

/* Set what is found of a suspect. */
static void set_found(ddp_suspect *s, const ddp_seen_at *p, const ddp_box *box)
{
    s->other.truth = (ddp_truth){.picture = s->picture, .class_id = p->class_id, .box = *box};
    s->has_other = 1;
    s->score = p->first;
}

static int add_find(ddp_suspects *s, uint32_t picture, const struct find *f)
{
    ddp_suspect missing = {.kind = DDP_SUSPECT_MISSING, .picture = picture};
    int is_fault = f->near < 1;

    set_found(&missing, &f->place, &f->d->box);
    if (is_fault && add_suspect(s, &missing))
        return -1;
    return add_evidence(
        s, (struct ddp_suspect_evidence){.class_id = f->place.class_id,
                                         .kind = DDP_SUSPECT_MISSING,
                                         .is_fault = is_fault,
                                         .strength = f->place.sure * (is_fault ? 1 - f->near : 1)});
}

/* Add a label, with the surest find that explains it, which is then taken out of finds. */
static int add_label(ddp_suspects *s, uint32_t picture, const ddp_label_truth *label,
                     const ddp_seen_at *p, struct find *finds, size_t find_count)
{
    ddp_suspect suspect = {.kind = DDP_SUSPECT_EXTRA, .picture = picture, .label = *label};
    struct ddp_suspect_evidence e = {
        .class_id = label->truth.class_id, .is_fault = 1, .strength = 1 - p->sure};
    struct find *f = NULL;

    for (size_t i = 0; i < find_count && !f; i++)
        f = finds[i].d && finds[i].explains == label ? &finds[i] : NULL;
    if (f) {
        suspect.kind = DDP_SUSPECT_PLACE;
        set_found(&suspect, &f->place, &f->d->box);
        e.strength *= f->place.sure;
        f->d = NULL;
    } else if (p->class_id != e.class_id && p->sure * (1 - p->own / p->sum) > 1 - p->sure) {
        suspect.kind = DDP_SUSPECT_CLASS;
        set_found(&suspect, p, &p->d->box);
        e.strength = p->sure * (p->first - p->own) / p->sum;
        e.class_id = p->class_id;
    }
    e.kind = suspect.kind;
    return add_suspect(s, &suspect) || add_evidence(s, e) ? -1 : 0;
}

int ddp_suspects_add(ddp_suspects *s, uint32_t picture, const ddp_label_truth *labels,
                     size_t label_count, const ddp_detection *found, size_t found_count)
{
    ddp_view_finds seen = {.all = found,
                           .count = found_count,
                           .classes = s->classes,
                           .views = s->views,
                           .best = calloc((size_t)s->classes * (size_t)s->views, sizeof(double))};
    ddp_seen_at *places = calloc(label_count + 1, sizeof *places);
    struct find *finds = calloc(found_count + 1, sizeof *finds);
    char *pairs = calloc(label_count + 1, 1);
    int failed = !seen.best || !places || !finds || !pairs;
    size_t count = 0;

    failed = failed || add_twice(s, picture, labels, label_count, pairs);
    for (size_t i = 0; !failed && i < label_count; i++)
        places[i] = ddp_look_at(&seen, &labels[i].truth.box, labels[i].truth.class_id);
    for (size_t i = 0; !failed && i < label_count; i++)
        s->found += places[i].sure > 0.5;
    if (!failed)
        count = choose_finds(finds, &seen, labels, places, label_count);
    for (size_t i = 0; !failed && i < label_count; i++)
        if (!pairs[i])
            failed = add_label(s, picture, &labels[i], &places[i], finds, count);
    for (size_t i = 0; !failed && i < count; i++)
        if (finds[i].d)
            failed = add_find(s, picture, &finds[i]);
    s->labels += label_count;
    free(seen.best);
    free(places);
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

static double doubt_of(double odds)
{
    return odds / (1 + odds);
}

/* Doubt the labels whose loss is known by that alone; two on one thing are doubted already. */
static void doubt_by_loss(ddp_suspects *s)
{
    for (size_t i = 0; i < s->count; i++) {
        ddp_suspect *suspect = &s->list[i];

        if (suspect->kind != DDP_SUSPECT_TWICE && suspect->label.line && suspect->label.loss > 0)
            suspect->doubt = doubt_of(loss_odds * expm1(suspect->label.loss));
    }
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
        odds = prior_odds * all[i].strength / (1 + unsure - all[i].strength) * (among + few)
               / (double)(faults + 1);
        for (size_t k = i; k < end; k++)
            if (all[k].suspect)
                s->list[all[k].suspect - 1].doubt = doubt_of(odds);
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

/* Return the listed label, of rows[0..count) of one picture, that `box` covers in part: of several
 * the one that it overlaps most. NULL: there is none. */
static ddp_suspect *row_at(ddp_suspect *rows, size_t count, const ddp_box *box)
{
    ddp_suspect *row = NULL;
    double most = 0;

    for (size_t i = 0; i < count; i++) {
        const ddp_box *label = &rows[i].label.truth.box;
        double iou = ddp_box_iou(box, label);

        if (rows[i].kind != DDP_SUSPECT_TWICE && rows[i].kind != DDP_SUSPECT_MISSING
            && rows[i].doubt >= least_doubt && iou > most && ddp_box_nearness(box, label) > 0) {
            row = &rows[i];
            most = iou;
        }
    }
    return row;
}

/* In rows[0..count), of one picture, join each find without a label to the listed label that it
 * covers in part. The find's own row then has no doubt. */
static void join_rows(ddp_suspect *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ddp_suspect *find = &rows[i], *row = NULL;

        if (find->kind == DDP_SUSPECT_MISSING && find->doubt >= least_doubt)
            row = row_at(rows, count, &find->other.truth.box);
        if (!row)
            continue;
        if (row->kind == DDP_SUSPECT_EXTRA) {
            row->kind = DDP_SUSPECT_PLACE;
            row->other = find->other;
            row->has_other = 1;
            row->score = find->score;
        }
        row->doubt = row->doubt > find->doubt ? row->doubt : find->doubt;
        find->doubt = 0;
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
    doubt_by_loss(s);
    for (size_t i = 0, end; i < s->count; i = end) {
        for (end = i; end < s->count && s->list[end].picture == s->list[i].picture;)
            end++;
        join_rows(s->list + i, end - i);
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
