#include "inputs/preflight.h"

#include "base/clock.h"
#include "base/plural.h"
#include "check/training_values.h"
#include "comm/collectives.h"
#include "inputs/anchor_fit.h"
#include "inputs/scan_data.h"
#include "inputs/scan_gather.h"
#include "samples/transforms.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Pictures of a list, of all ranks; faults that a rank names; how long it looks at each list, in
 * ns. */
enum { MOST = 2048, SHOWN = 5 };
static const int64_t longest_ns = 500000000;
static const int64_t search_ns = 10 * (int64_t)1000000000; /* for a label, where none was seen */

/* With these training goes on: it takes less than there is, or guesses. Pictures without labels are
 * Darknet's to count, and what is wrong with names is printed by itself. */
static int is_borne(const char *kind)
{
    static const char *const borne[] = {"label-range", "label-zero", "label-many",
                                        "class-none",  "class-many", NULL};

    for (int i = 0; borne[i]; i++)
        if (strcmp(kind, borne[i]) == 0)
            return 1;
    return 0;
}

typedef void look(ddp_scan_data *c, size_t first, size_t count);

/* This rank's share of the sample. */
static void look_at_some(ddp_scan_data *c, const ddp_lines *list, look *at, int rank, int size)
{
    size_t sample = list->count < MOST ? list->count : MOST;
    int64_t began = ddp_clock_ns();

    for (size_t i = (size_t)rank; i < sample; i += (size_t)size) {
        at(c, i * list->count / sample, 1);
        if (ddp_clock_ns() - began > longest_ns)
            break;
    }
}

/* Faults that a rank has found; its pictures and boxes are counted in the tally. */
typedef struct findings {
    uint64_t fatal, borne, unreadable;
} findings;

struct sorting {
    findings *found;
    int is_train;
    FILE *out; /* lines of the first that are fatal; NULL: no memory for them */
};

static void sort_one(void *ctx, const ddp_fault *fault)
{
    struct sorting *s = ctx;
    char line[16] = "";

    if (fault->level == DDP_FAULT_WARNING || strcmp(fault->kind, "data-names") == 0)
        return;
    /* The training list's pictures are all looked for after this (inputs/list.h). */
    if (s->is_train && strcmp(fault->kind, "picture-unreadable") == 0) {
        s->found->unreadable++;
        return;
    }
    if (s->is_train && is_borne(fault->kind)) {
        s->found->borne++;
        return;
    }
    if (fault->line > 0)
        (void)snprintf(line, sizeof line, ":%d", fault->line);
    if (s->found->fatal++ < SHOWN && s->out)
        (void)fprintf(s->out, "%s%s%s: %s", s->found->fatal > 1 ? "\n" : "", fault->file, line,
                      fault->text);
}

/* Sort the faults found so far, and forget them. */
static void sort(ddp_scan_data *c, findings *found, int is_train, FILE *out)
{
    struct sorting s = {.found = found, .is_train = is_train, .out = out};

    ddp_faults_each(&c->faults, sort_one, &s);
    ddp_faults_release(&c->faults);
    c->faults = (ddp_faults){0};
}

static void print_one(void *ctx, const ddp_fault *fault)
{
    (void)ctx;
    if (fault->line > 0)
        printf("DDP: %s:%d: %s\n", fault->file, fault->line, fault->text);
    else
        printf("DDP: %s: %s\n", fault->file, fault->text);
}

static void print_all(ddp_faults *faults)
{
    ddp_faults_each(faults, print_one, NULL);
    ddp_faults_release(faults);
}

/* Print what is wrong with keys of the .data file, names, and values of the cfg. */
static void print_warnings(const ddp_scan_data *c)
{
    ddp_faults faults = {0};

    ddp_scan_data_check_names(c, &faults);
    ddp_check_training_values(&faults, c->cfg_path, &c->cfg.cfg);
    print_all(&faults);
}

/* Print what boxes of all pictures that were looked at tell. */
static void print_boxes(const ddp_scan_data *c)
{
    ddp_faults faults = {0};

    ddp_scan_data_check_boxes(c, &faults);
    print_all(&faults);
}

/* On each rank, which says what is fatal. */
static findings look_and_say(ddp_scan_data *c, int rank, int size, ddp_preflight_say *say)
{
    findings found = {0};
    char *lines = NULL;
    size_t bytes;
    FILE *out = open_memstream(&lines, &bytes);

    if (rank > 0) { /* what rank 0 says of the cfg */
        ddp_faults_release(&c->faults);
        c->faults = (ddp_faults){0};
    }
    look_at_some(c, &c->list, ddp_scan_data_check_train, rank, size);
    sort(c, &found, 1, out);
    look_at_some(c, &c->valid, ddp_scan_data_check_valid, rank, size);
    sort(c, &found, 0, out);
    if (out)
        (void)fclose(out);
    if (found.fatal > 0 && lines)
        say(lines);
    free(lines);
    return found;
}

/* Few pictures of a list may have labels, and none of those that were looked at: then labels are
 * looked for until one is found, or for search_ns: then there may be some. *why is a sentence. */
static ddp_status find_no_labels(ddp_scan_data *c, ddp_group *group, int *none, ddp_error *why,
                                 ddp_error *err)
{
    char label[DDP_PATH_BYTES];
    size_t size = (size_t)ddp_group_size(group);
    int64_t end_ns = ddp_clock_ns() + search_ns;

    *none = ddp_scan_data_has_no_labels(c, why);
    if (!*none)
        return DDP_OK;
    for (size_t i = (size_t)ddp_group_rank(group); i < c->list.count && *none; i += size) {
        ddp_label_path(c->list.all[i], label);
        *none = access(label, F_OK) != 0 && ddp_clock_ns() < end_ns;
    }
    return ddp_holds_on_all(group, none, err);
}

static void print_anchors(const ddp_scan_data *c)
{
    ddp_anchor_fit fit;

    if (!ddp_anchor_fit_find(&fit, c))
        return;
    printf("DDP: %s: its anchors fit these boxes with an average IoU of %.1f%%, and others better: "
           "`darknet ddp check %s %s",
           c->cfg_path, 100 * fit.cfgs_iou, c->data_path, c->cfg_path);
    for (const ddp_net_value *v = c->values; v->key; v++)
        if (strcmp(v->key, "width") == 0 || strcmp(v->key, "height") == 0)
            printf(" -%s %s", v->key, v->value);
    printf("` shows them\n");
}

static ddp_status judge(ddp_scan_data *c, ddp_group *group, const findings *all, ddp_error *err)
{
    int rank = ddp_group_rank(group), none;
    uint64_t pictures = c->tally.pictures, told = all->borne + c->tally.with_two_labels;
    ddp_error why;

    if (rank == 0 && all->fatal == 0)
        print_anchors(c);
    if (find_no_labels(c, group, &none, &why, err))
        return err->code;
    none &= all->unreadable < pictures; /* else it is the pictures that are elsewhere */
    if (none) {
        *err = why;
        return ddp_wrap(err, "%s", c->list_path);
    }
    if (rank == 0 && all->fatal == 0 && told > 0)
        printf("DDP: %" PRIu64 " fault%s, in a look at %" PRIu64 " of %zu pictures; "
               "`darknet ddp check %s %s` says which\n",
               told, ddp_plural(told), pictures, c->list.count, c->data_path, c->cfg_path);
    if (rank == 0 && all->fatal + all->unreadable == 0)
        print_boxes(c);
    if (all->fatal == 0)
        return DDP_OK;
    return ddp_fail(
        err, DDP_ERR_FORMAT,
        "%" PRIu64
        " fault%s at which training would end, or learn something else than was meant, in a "
        "look at the cfg and some pictures: `darknet ddp check %s %s` shows all that is wrong; "
        "-nocheck trains without looking",
        all->fatal, ddp_plural(all->fatal), c->data_path, c->cfg_path);
}

/* Every rank looks at its share, and all judge by what all have found. */
static ddp_status look_and_judge(ddp_scan_data *c, ddp_group *group, ddp_preflight_say *say,
                                 ddp_error *err)
{
    findings found = look_and_say(c, ddp_group_rank(group), ddp_group_size(group), say);
    uint64_t sums[] = {found.fatal, found.borne, found.unreadable};

    if (ddp_scan_gather(group, &c->faults, &c->tally, c->by_class, c->classes, &c->sample, err)
        || ddp_sum_counts(group, sums, 3, err))
        return err->code;
    found = (findings){sums[0], sums[1], sums[2]};
    return judge(c, group, &found, err);
}

static int is_looked_at(const ddp_scan_data *c, const char *command)
{
    return strcmp(command, "detector") == 0 ? c->heads.count > 0 : c->heads.count == 0;
}

ddp_status ddp_preflight(ddp_group *group, const ddp_options *options, const ddp_net_value *values,
                         const char *command, const char *data, const char *cfg,
                         ddp_preflight_say *say, ddp_error *err)
{
    ddp_scan_data *c;
    ddp_error unread;
    ddp_status st;
    int ready;

    if (options->nocheck || options->on_bad_data > 0 || !data || !cfg
        || (strcmp(command, "detector") != 0 && strcmp(command, "classifier") != 0))
        return DDP_OK;
    c = calloc(1, sizeof *c);
    if (!c)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to look at the data");
    c->data_path = data;
    c->cfg_path = cfg;
    c->values = values;
    ready = ddp_scan_data_open(c, &unread) == DDP_OK && !c->unread && !c->unknown
            && c->list.count > 0 && is_looked_at(c, command);
    st = ddp_holds_on_all(group, &ready, err);
    if (!st && ready && ddp_group_rank(group) == 0)
        print_warnings(c);
    if (!st && ready)
        st = look_and_judge(c, group, say, err);
    ddp_scan_data_release(c);
    free(c);
    return st;
}
