#include "model.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void fail(const char *path, const char *why)
{
    (void)fprintf(stderr, "%s: %s\n", path, why);
    exit(1);
}

static int starts_with(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

static int has_kink(const char *line)
{
    return starts_with(line, "activation=leaky") || starts_with(line, "activation=relu");
}

enum { MAX_SECTIONS = 1024 };

/* Sections of a cfg, [net] first: may a layer have other filters than the cfg says? */
struct sections {
    int count;
    char may_be_thin[MAX_SECTIONS];
};

/* A layer's number of outputs stands where a loss, or the end, follows: pooling and dropout between
 * them pass it on. */
static struct sections find_sections(FILE *in)
{
    static const char *const passing[] = {"[avgpool]", "[maxpool]", "[dropout]"};
    static const char *const losses[] = {"[softmax]", "[cost]", "[yolo]", "[region]",
                                         "[detection]"};
    struct sections s = {0};
    char *line = NULL;
    size_t size = 0;
    int last = -1; /* section that only passing ones have followed so far */

    while (getline(&line, &size, in) >= 0) {
        int passes = 0, is_loss = 0;

        if (line[0] != '[')
            continue;
        if (s.count == MAX_SECTIONS)
            fail("cfg", "more sections than this test knows");
        for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++)
            passes |= starts_with(line, passing[i]);
        for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++)
            is_loss |= starts_with(line, losses[i]);
        if (last >= 0 && !passes)
            s.may_be_thin[last] = !is_loss;
        if (!passes)
            last = s.count;
        s.count++;
    }
    free(line);
    rewind(in);
    return s;
}

/* Write a line that says how many filters or outputs a layer has, with fewer. Returns 0 if it is
 * another line. */
static int write_thin(const char *line, int thin, FILE *out)
{
    int count;

    if (sscanf(line, "filters = %d", &count) == 1)
        (void)fprintf(out, "filters=%d\n", (count + thin - 1) / thin);
    else if (sscanf(line, "output = %d", &count) == 1)
        (void)fprintf(out, "output=%d\n", (count + thin - 1) / thin);
    else
        return 0;
    return 1;
}

/* Values outside [net], and a section more. */
static void copy_sections(const model_options *o, FILE *in, FILE *out)
{
    struct sections sections = find_sections(in);
    char *line = NULL;
    size_t size = 0;
    int section = -1; /* [net], then layer 0 */

    while (getline(&line, &size, in) >= 0) {
        if (o->thin && section >= 0 && sections.may_be_thin[section]
            && write_thin(line, o->thin, out))
            continue;
        if (o->crop && starts_with(line, "crop_height"))
            (void)fprintf(out, "crop_height=%d\n", o->crop);
        else if (o->crop && starts_with(line, "crop_width"))
            (void)fprintf(out, "crop_width=%d\n", o->crop);
        else if (o->smooth && has_kink(line))
            (void)fprintf(out, "activation=%s\n", o->smooth == 2 ? "mish" : "elu");
        else
            (void)fputs(line, out);
        if (line[0] == '[' && section < 0 && o->smooth == 2) /* mish alone is to be another's */
            (void)fprintf(out, "weights_init=normal\n");
        if (line[0] == '[' && section++ == o->frozen - 1 && o->frozen > 0)
            (void)fprintf(out, "stopbackward=1\n");
    }
    if (o->add_cost)
        (void)fprintf(out, "\n[cost]\ntype=sse\n");
    free(line);
}

enum { PATH_BYTES = 64 };

/* The cfg as options want it, but for [net], in a file in memory. */
static int write_cfg(const model_options *o, char path[PATH_BYTES])
{
    int copy = memfd_create("cfg", 0);
    FILE *in = fopen(o->cfg, "r"), *out = copy < 0 ? NULL : fdopen(dup(copy), "w");

    if (!in || !out)
        fail(o->cfg, "cannot be copied");
    copy_sections(o, in, out);
    (void)fclose(in);
    if (fclose(out))
        fail(o->cfg, "cannot be copied");
    (void)snprintf(path, PATH_BYTES, "/proc/self/fd/%d", copy);
    return copy;
}

/* Two networks that make the same steps must draw nothing at random. */
static void remove_randomness(network *net)
{
    for (int i = 0; i < net->n; i++) {
        layer *l = &net->layers[i];

        if (l->type == DROPOUT) {
            l->probability = 0;
            l->scale = 1;
        }
        if (l->type == CROP) {
            l->flip = 0;
            if (l->w != l->out_w || l->h != l->out_h)
                fail("[crop]", "must leave the whole picture, else it is cut at random");
        }
        if (l->type == DETECTION)
            l->random = 0;
    }
}

float __wrap_rand_normal(void);

/* Called instead of Darknet's rand_normal, whose logarithms and cosines for millions
 * of first weights would be a third of a test: uniform, of the same variance. */
float __wrap_rand_normal(void)
{
    return (float)rand() * (3.4641016F / (float)RAND_MAX) - 1.7320508F;
}

static int terminal = -1;

/* Darknet cannot read the cfg: it says so where people see it. */
static void show_fatal(int code, const char *message)
{
    (void)dprintf(terminal, "%s\n", message);
    _exit(code);
}

/* With the numbers of [net] that options want. */
static network *parse(char *path, const model_options *o)
{
    const struct {
        const char *key;
        int value; /* 0: as the cfg has it */
    } wanted[] = {{"width", o->width},
                  {"height", o->height},
                  {"batch", o->batch},
                  {"subdivisions", o->subdivisions},
                  {"time_steps", o->time_steps}};
    enum { WANTED = sizeof wanted / sizeof wanted[0] };
    cfg_value values[WANTED + 1] = {{NULL, NULL}};
    char text[WANTED][16];
    network *net;

    for (int i = 0, count = 0; i < WANTED; i++) {
        if (!wanted[i].value)
            continue;
        (void)snprintf(text[i], sizeof text[i], "%d", wanted[i].value);
        values[count++] = (cfg_value){wanted[i].key, text[i]};
    }
    cfg_net_values = values;
    net = parse_network_cfg(path);
    cfg_net_values = NULL;
    return net;
}

static network *parse_quietly(char *path, const model_options *o)
{
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    network *net;

    terminal = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    fatal_handler = show_fatal;
    (void)dup2(null, STDERR_FILENO);
    gpu_index = o->on_gpu ? 0 : -1;
    net = parse(path, o);
    (void)dup2(terminal, STDERR_FILENO);
    (void)close(null);
    return net;
}

network *model_open(const model_options *o)
{
    char path[PATH_BYTES];
    int fd = write_cfg(o, path);
    network *net = parse_quietly(path, o);

    (void)close(fd);
    remove_randomness(net);
    net->burn_in = 0; /* its first steps have a rate of next to nothing */
    if (o->learning_rate > 0)
        net->learning_rate = o->learning_rate;
    return net;
}
