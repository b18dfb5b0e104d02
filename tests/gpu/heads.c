/* Do the heads' kernels make of random boxes what the CPU makes of them?
 *
 *   gpu_heads [NAME]...      one line a case; exit status 0, 1, or 77 without a GPU
 *
 * A network is a head alone, on the CPU and on the GPU, and gets the same input and truth: no
 * truths, one, some, many in one cell, as many as there may be, and such as no label should be.
 * Compared, each number by its difference to the CPU's, relative where that is above 1:
 *
 *   outputs and deltas, each                            1e-6; of [region] 5e-6, by an H200's exp
 *     deltas of boxes trained by their overlap          1e-4
 *     the Euclidean norm of all                         1e-5
 *   the cost, its parts, and the numbers of the line    1e-5
 *
 * The gradient of an overlap is a small difference of numbers as large as one by the box's size:
 * last bits of the box, which the CPU's -Ofast rounds in its own way, become up to that much.
 *
 * On the GPU the layer has no arrays on the host: nothing of them crosses in a training step. */
#include "../parity/model.h"

#include <cuda_runtime_api.h>
#include <darknet.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SKIPPED = 77, SIDE = 8, BATCH = 3, ROUNDS = 3, LINE_BYTES = 512 };

static const double values_limit = 1e-6, region_limit = 5e-6, overlaps_limit = 1e-4,
                    norm_limit = 1e-5, sums_limit = 1e-5;

/* ---- cases ---- */

typedef struct head_case {
    const char *name;
    int channels;
    const char *net, *head; /* lines of [net], and the section */
    float low, high;        /* of the input */
    int overlaps;           /* boxes are trained by their overlap */
} head_case;

#define YOLO_LINES                                                                                 \
    "[yolo]\nmask=1,0,3\nanchors=1,1.5, 2,3, 5,4, 3,3\nclasses=4\nnum=4\nignore_thresh=.4\n"
#define REGION_LINES                                                                               \
    "[region]\nanchors=1,1.5, 2,3, 5,4\nclasses=4\nnum=3\nthresh=.5\nobject_scale=5\nabsolute=1\n"
#define TREE_LINES                                                                                 \
    "[region]\nanchors=1,1.5, 2,3, 5,4\nclasses=7\nnum=3\nthresh=.5\nobject_scale=5\nabsolute=1\n" \
    "softmax=1\ntree=" TREE_FILE "\n"
#define TREE_FILE "/proc/self/fd/100"
#define TREE_FD 100
#define DETECTION_LINES                                                                            \
    "[detection]\nclasses=3\ncoords=4\nside=8\nnum=4\nobject_scale=2\nnoobject_scale=.5\ncoord_"   \
    "scale=5\n"
#define V4 "yolo_math=v4\n"

static const head_case cases[] = {
    {"yolo", 27, "", YOLO_LINES, -2, 2, 0},
    {"yolo-truth-thresh", 27, "", YOLO_LINES "truth_thresh=.5\n", -2, 2, 0},
    {"yolo-forks", 27, V4, YOLO_LINES, -2, 2, 0},
    {"yolo-truth-thresh-forks", 27, V4, YOLO_LINES "truth_thresh=.5\niou_thresh=.3\n", -2, 2, 0},
    {"yolo-iou", 27, V4, YOLO_LINES "iou_loss=iou\niou_normalizer=.5\n", -2, 2, 1},
    {"yolo-giou", 27, V4, YOLO_LINES "iou_loss=giou\niou_thresh=.1\niou_thresh_kind=giou\n", -2, 2,
     1},
    {"yolo-diou", 27, V4,
     YOLO_LINES "iou_loss=diou\nobj_normalizer=.4\nlabel_smooth_eps=.1\ncls_normalizer=.5\n"
                "counters_per_class=9,3,1,5\n",
     -2, 2, 1},
    {"yolo-ciou", 27, V4,
     YOLO_LINES "iou_loss=ciou\niou_normalizer=.07\nscale_x_y=1.05\niou_thresh=.2\nmax_delta=5\n",
     -2, 2, 1},
    {"yolo-focal", 27, V4, YOLO_LINES "focal_loss=1\niou_thresh=.2\n", -2, 2, 0},
    {"yolo-new-coords", 27, V4,
     YOLO_LINES "new_coords=1\nscale_x_y=2\niou_loss=ciou\nobjectness_smooth=1\niou_thresh=.2\n"
                "truth_thresh=.6\nmax_delta=2\n",
     0.05F, 0.95F, 1},
    {"region", 27, "", REGION_LINES "softmax=1\nbias_match=1\nrescore=1\n", -2, 2, 0},
    {"region-logistic", 27, "", REGION_LINES "coord_scale=2\nclass_scale=.5\n", -2, 2, 0},
    {"region-background", 27, "", REGION_LINES "softmax=1\nbackground=1\n", -2, 2, 0},
    {"region-mask", 33, "", REGION_LINES "coords=6\nmask_scale=2\nmax=40\n", -2, 2, 0},
    {"region-tree", 36, "", TREE_LINES "bias_match=1\n", -2, 2, 0},
    {"iseg", 9, "", "[iseg]\nclasses=4\nids=5\n", -2, 2, 0},
    {"iseg-classes", 4, "", "[iseg]\nclasses=4\nids=0\n", -2, 2, 0},
    {"detection", 23, "", DETECTION_LINES "rescore=1\nsqrt=1\n", -1, 1, 0},
    {"detection-softmax", 23, "", DETECTION_LINES "softmax=1\nclass_scale=.5\n", -1, 1, 0},
    {"detection-forced", 23, "", DETECTION_LINES "forced=1\nsqrt=1\n", -1, 1, 0},
    {"detection-random", 23, "", DETECTION_LINES "random=1\nrescore=1\n", -1, 1, 0},
};

/* ---- truths ---- */

enum truths { NONE, ONE, SOME, ONE_CELL, FULL, DEGENERATE, KINDS };

static const char *const kind_names[KINDS] = {"none",     "one",  "some",
                                              "one cell", "full", "degenerate"};

static float uniform(float low, float high)
{
    return low + (high - low) * (float)rand() / (float)RAND_MAX;
}

/* Make a box that no label should have: no width, no height, a middle outside, no place. */
static void make_degenerate(float *box, int k)
{
    static const float odd[] = {1, 1.5F, -0.3F, 999999};

    if (k % 3 == 0)
        box[2 + k / 3 % 2] = 0;
    else
        box[k / 3 % 2] = odd[k / 6 % 4];
    if (box[0] > 100000)
        box[1] = box[2] = box[3] = box[0];
}

static int count_of(enum truths kind, int most)
{
    const int counts[KINDS] = {0, 1, rand() % 8, 20, most, 24};

    return counts[kind] < most ? counts[kind] : most;
}

static void fill_boxes(enum truths kind, const layer *head, float *truth)
{
    int count = count_of(kind, head->max_boxes), each = head->truths / head->max_boxes;

    for (int k = 0; k < count; k++, truth += each) {
        int narrow = kind == ONE_CELL;

        truth[0] = narrow ? uniform(.51F, .61F) : uniform(.01F, .99F);
        truth[1] = narrow ? uniform(.26F, .36F) : uniform(.01F, .99F);
        truth[2] = uniform(.05F, .7F);
        truth[3] = uniform(.05F, .7F);
        for (int i = 5; i < each; i++)
            truth[i] = uniform(0, 1);
        truth[each > 5 ? each - 1 : 4] = (float)(rand() % head->classes);
        if (kind == DEGENERATE)
            make_degenerate(truth, k);
        if (head->softmax_tree && kind == SOME && k == 1
            && rand() % 2) /* of this picture a class is known, and no place */
            truth[0] = truth[1] = truth[2] = truth[3] = 999999;
    }
}

/* Fill in cells of [detection]: some have an object, its class, its box. */
static void fill_cells(enum truths kind, const layer *head, float *truth)
{
    int cells = head->side * head->side, each = 1 + head->classes + head->coords;
    const float shares[KINDS] = {0, 1.F / 64, .2F, .2F, 1, .5F};

    for (int i = 0; i < cells; i++, truth += each) {
        if (uniform(0, .999F) >= shares[kind])
            continue;
        truth[0] = 1;
        truth[1 + rand() % head->classes] = 1;
        for (int k = 1 + head->classes; k < each; k++)
            truth[k] = kind == DEGENERATE && rand() % 3 == 0 ? 0 : uniform(0, 1);
    }
}

/* Fill in instances of [iseg]: each has a class and pixels, which others may have, too; some have
 * none. A list that is not full ends with a class below 0. */
static void fill_instances(enum truths kind, const layer *head, float *truth)
{
    int cells = head->w * head->h, most = head->truths / (cells + 1);
    int count = count_of(kind, most);

    for (int i = 0; i < count; i++, truth += cells + 1) {
        float share = kind == DEGENERATE ? uniform(0, .03F) : uniform(.05F, .6F);

        truth[0] = (float)(rand() % head->classes);
        for (int k = 0; k < cells; k++)
            truth[1 + k] = uniform(0, .999F) < share ? 1 : 0;
    }
    if (count < most)
        truth[0] = -1;
}

static void fill_truth(enum truths kind, const layer *head, float *truth)
{
    if (head->type == ISEG) {
        fill_instances(kind, head, truth);
        return;
    }
    if (head->type == DETECTION)
        fill_cells(kind, head, truth);
    else
        fill_boxes(kind, head, truth);
}

/* ---- what heads say ---- */

typedef struct result {
    size_t count;
    float *output, *delta;
    double cost;
    head_figures figures;
    char line[LINE_BYTES];
} result;

static head_figures told;

static void hear(int layer, const head_figures *figures)
{
    (void)layer;
    told = *figures;
}

static unsigned drawn;

static void begin_draws(draw_purpose purpose, int layer, size_t number)
{
    (void)purpose;
    (void)layer;
    drawn = (unsigned)number;
}

static unsigned draw_next(void)
{
    return drawn = drawn * 5 + 3;
}

static const train_plugin plugin = {
    .is_first = 1, .head = hear, .draw_for = begin_draws, .draw = draw_next};

/* The last line that Darknet has printed: stdout is a file in memory. */
static void read_line(char *line)
{
    ssize_t n;

    (void)fflush(stdout);
    n = pread(STDOUT_FILENO, line, LINE_BYTES - 1, 0);
    line[n > 0 ? n : 0] = 0;
    if (ftruncate(STDOUT_FILENO, 0))
        abort();
    rewind(stdout);
}

/* ---- a step ---- */

static const layer *head_of(const network *net)
{
    return &net->layers[net->n - 1];
}

static void run(network *net, const float *input, const float *truth, result *r)
{
    const layer *l = head_of(net);
    size_t n = (size_t)l->outputs * (size_t)l->batch;

    r->count = n;
    memcpy(net->input, input, (size_t)net->inputs * BATCH * sizeof *input);
    memcpy(net->truth, truth, (size_t)net->truths * BATCH * sizeof *truth);
    net->sample += 5000; /* [region] begins with all boxes near its anchors */
    net->train = 1;
    forward_network(net);
    backward_network(net);
    r->output = calloc(n, sizeof(float));
    r->delta = calloc(n, sizeof(float));
    if (!r->output || !r->delta)
        abort();
    if (net->gpu_index < 0) {
        memcpy(r->output, l->output, n * sizeof(float));
        memcpy(r->delta, l->delta, n * sizeof(float));
    } else {
        cuda_pull_array(l->output_gpu, r->output, n);
        cuda_pull_array(l->delta_gpu, r->delta, n);
    }
    r->cost = (double)*l->cost;
    r->figures = told;
    read_line(r->line);
}

/* ---- comparison ---- */

/* 0: the same, in the units of limit; infinite numbers and NaN are the same as their like. */
static double off_by(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b) ? 0 : INFINITY;
    if (isinf(a) || isinf(b))
        return a == b ? 0 : INFINITY;
    return fabs(a - b) / fmax(1, fabs(b));
}

static double worst_of(const float *a, const float *b, size_t n, size_t *where)
{
    double worst = 0;

    for (size_t i = 0; i < n; i++) {
        double off = off_by((double)a[i], (double)b[i]);

        if (off > worst) {
            worst = off;
            *where = i;
        }
    }
    return worst;
}

/* Return the norm of the differences of finite numbers, relative to b. */
static double norm_off_by(const float *a, const float *b, size_t n)
{
    double off = 0, all = 0;

    for (size_t i = 0; i < n; i++) {
        double x = (double)a[i], y = (double)b[i];

        if (!isfinite(x) || !isfinite(y))
            continue;
        off += (x - y) * (x - y);
        all += y * y;
    }
    return off > 0 ? sqrt(off / all) : 0;
}

/* The numbers of two lines. */
static double lines_off_by(const char *a, const char *b)
{
    double worst = 0;

    while (*a && *b) {
        char *after_a, *after_b;
        double x = strtod(a, &after_a), y = strtod(b, &after_b);

        if (after_a == a || after_b == b) {
            if (*a++ != *b++)
                return INFINITY;
            continue;
        }
        worst = fmax(worst, off_by(x, y));
        a = after_a;
        b = after_b;
    }
    return *a || *b ? INFINITY : worst;
}

static double sums_off_by(const result *gpu, const result *cpu, int compared_by_line)
{
    const head_figures *g = &gpu->figures, *c = &cpu->figures;
    double worst = off_by(gpu->cost, cpu->cost);

    worst = fmax(worst, off_by((double)g->box_loss, (double)c->box_loss));
    worst = fmax(worst, off_by((double)g->object_loss, (double)c->object_loss));
    worst = fmax(worst, off_by((double)g->class_loss, (double)c->class_loss));
    worst = fmax(worst, off_by((double)g->iou, (double)c->iou));
    worst = fmax(worst, off_by(g->count, c->count));
    return compared_by_line ? fmax(worst, lines_off_by(gpu->line, cpu->line)) : worst;
}

static double values_limit_of(const layer *head)
{
    return head->type == REGION ? region_limit : values_limit;
}

/* Adds what is wrong to out. */
static int compare(FILE *out, const layer *head, const char *truths, double deltas_limit,
                   const result *gpu, const result *cpu)
{
    size_t at_output = 0, at_delta = 0;
    double output = worst_of(gpu->output, cpu->output, gpu->count, &at_output);
    double delta = worst_of(gpu->delta, cpu->delta, gpu->count, &at_delta);
    double norm = norm_off_by(gpu->delta, cpu->delta, gpu->count);
    double sums = sums_off_by(gpu, cpu, head->type != ISEG); /* its last one is a time */
    int bad = 0;

    if (!(output <= values_limit_of(head)))
        bad += fprintf(out, " %s: OUTPUT %zu off by %.1e", truths, at_output, output) > 0;
    if (!(norm <= norm_limit))
        bad += fprintf(out, " %s: DELTAS off by %.1e", truths, norm) > 0;
    if (!(delta <= deltas_limit))
        bad += fprintf(out, " %s: DELTA %zu is %.9g, not %.9g", truths, at_delta,
                       (double)gpu->delta[at_delta], (double)cpu->delta[at_delta])
               > 0;
    if (!(sums <= sums_limit))
        bad += fprintf(out, " %s: SUMS off by %.1e: %.8g and %.8g\n%s%s", truths, sums, gpu->cost,
                       cpu->cost, gpu->line, cpu->line)
               > 0;
    return bad;
}

static int try_truths(FILE *out, const head_case *c, enum truths kind, network *gpu, network *cpu)
{
    size_t inputs = (size_t)gpu->inputs * BATCH, truths = (size_t)gpu->truths * BATCH;
    float *input = calloc(inputs, sizeof *input), *truth = calloc(truths, sizeof *truth);
    result on_gpu, on_cpu;
    int bad;

    if (!input || !truth)
        abort();
    for (size_t i = 0; i < inputs; i++)
        input[i] = uniform(c->low, c->high);
    for (int b = 0; b < BATCH; b++)
        fill_truth(kind, head_of(gpu), truth + b * gpu->truths);
    run(cpu, input, truth, &on_cpu);
    run(gpu, input, truth, &on_gpu);
    bad = compare(out, head_of(gpu), kind_names[kind],
                  c->overlaps ? overlaps_limit : values_limit_of(head_of(gpu)), &on_gpu, &on_cpu);
    if (head_of(gpu)->output || head_of(gpu)->delta)
        bad += fprintf(out, " THE HOST HAS A COPY") > 0;
    free(on_gpu.output);
    free(on_gpu.delta);
    free(on_cpu.output);
    free(on_cpu.delta);
    free(input);
    free(truth);
    return bad;
}

static network *open_head(const head_case *c, int on_gpu)
{
    char path[64];
    int fd = memfd_create("head", 0);
    model_options o = {.cfg = path, .on_gpu = on_gpu};
    network *net;

    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (dprintf(fd,
                "[net]\nbatch=%d\nsubdivisions=1\nwidth=%d\nheight=%d\nchannels=%d\n%s"
                "max_batches=1\n%s",
                BATCH, SIDE, SIDE, c->channels, c->net, c->head)
        < 0)
        abort();
    net = model_open(&o);
    (void)close(fd);
    return net;
}

static int try_case(FILE *out, const head_case *c)
{
    network *gpu = open_head(c, 1), *cpu = open_head(c, 0);
    int bad = 0;

    train_plugin_active = &plugin;
    srand(20);
    (void)fprintf(out, "%s:", c->name);
    for (int round = 0; round < ROUNDS; round++)
        for (int kind = 0; kind < KINDS; kind++)
            bad += try_truths(out, c, (enum truths)kind, gpu, cpu);
    (void)fprintf(out, bad ? " FAILED\n" : " as on the CPU\n");
    train_plugin_active = NULL;
    free_network(gpu);
    free_network(cpu);
    return bad;
}

/* ---- the program ---- */

static int is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return argc < 2;
}

/* Make the tree that TREE_LINES name: of each class, in groups, the class above it. */
static void make_tree(void)
{
    int file = memfd_create("tree", 0);

    if (dprintf(file, "thing -1\nliving -1\ncar 0\nbike 0\ndog 1\ncat 1\nhorse 1\n") < 0
        || dup2(file, TREE_FD) < 0)
        abort();
    (void)close(file);
}

int main(int argc, char **argv)
{
    int file = memfd_create("lines", 0), count = 0, bad = 0;
    FILE *out = fdopen(dup(STDOUT_FILENO), "w");

    if (!out || dup2(file, STDOUT_FILENO) < 0)
        abort();
    make_tree();
    if (cudaGetDeviceCount(&count) != cudaSuccess || !count) {
        (void)fprintf(out, "skipped: no GPU\n");
        return SKIPPED;
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (is_wanted(cases[i].name, argc, argv))
            bad += try_case(out, &cases[i]);
    return bad != 0;
}
