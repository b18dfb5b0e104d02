#include "check/model.h"

#include "text/numbers.h"

#include <string.h>

/* Boxes that Darknet takes of a picture where a head has no max=. */
enum { YOLO_BOXES = 90, REGION_BOXES = 30, BOXES_OF_FORKS = 200 };

enum { CHANNELS = 3 };

struct model {
    ddp_faults *f;
    ddp_heads *heads;
    const char *cfg_path;
    const char *data_path;
    int data_classes;
    int width, height; /* of [net] */
};

static int number_of(const ddp_cfg_section *s, const char *key, int fallback)
{
    return ddp_cfg_whole(ddp_cfg_find(s, key), fallback);
}

/* Return 0 if a key has a value that is no whole number, or no list of them: the parser of the
 * whole cfg tells of it, with its line. */
static int is_readable(const ddp_cfg_section *s, const char *key)
{
    const ddp_cfg_line *line = ddp_cfg_find(s, key);
    const char *at = line ? line->value : "";
    int value;

    if (line && line->lacks_comma)
        return 0;
    while (*at)
        if (ddp_numbers_next_whole(&at, &value))
            return 0;
    return 1;
}

/* Return 0 if a number of the head by which filters= is found cannot be read. */
static int are_readable(const ddp_cfg_section *head)
{
    static const char *const keys[] = {"classes", "coords", "num", "mask"};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (!is_readable(head, keys[i]))
            return 0;
    return 1;
}

static int is(const ddp_cfg_section *s, const char *title)
{
    return s->title && strcmp(s->title->key, title) == 0;
}

static int is_convolution(const ddp_cfg_section *s)
{
    return is(s, "[convolutional]") || is(s, "[conv]");
}

static int is_head(const ddp_cfg_section *s)
{
    return is(s, "[yolo]") || is(s, "[region]") || is(s, "[detection]");
}

/* Return what filters= of the convolution before a head must be; 0: [detection], for which it is
 * not known. */
static double filters_of(const ddp_cfg_section *head)
{
    const ddp_cfg_line *mask = ddp_cfg_find(head, "mask");
    double classes = number_of(head, "classes", 20), anchors = number_of(head, "num", 1);

    if (is(head, "[detection]"))
        return 0;
    if (is(head, "[yolo]") && mask)
        anchors = ddp_numbers_count(mask->value);
    return (classes + number_of(head, "coords", 4) + 1) * anchors;
}

static void check_filters(const struct model *m, const ddp_cfg_section *before,
                          const ddp_cfg_section *head)
{
    const ddp_cfg_line *line = before ? ddp_cfg_find(before, "filters") : NULL;
    double wanted = filters_of(head); /* may be larger than an int */
    int found = before ? number_of(before, "filters", 1) : 1;

    if (wanted == 0 || !before || !is_convolution(before) || !is_readable(before, "filters")
        || found == wanted)
        return;
    ddp_fault_add(m->f, DDP_FAULT_ERROR, "cfg-filters", m->cfg_path,
                  line ? line->number : before->title->number,
                  "filters=%d before %s, which has %d classes: filters=%.0f is wanted", found,
                  head->title->key, number_of(head, "classes", 20), wanted);
}

static void check_classes(const struct model *m, const ddp_cfg_section *head)
{
    const ddp_cfg_line *line = ddp_cfg_find(head, "classes");
    int classes = number_of(head, "classes", 20);

    /* A map= or tree= gives the network classes of its own. */
    if (m->data_classes == 0 || m->data_classes == classes || ddp_cfg_find(head, "map")
        || ddp_cfg_find(head, "tree"))
        return;
    ddp_fault_add(m->f, DDP_FAULT_ERROR, "cfg-classes", m->cfg_path,
                  line ? line->number : head->title->number,
                  "%s has classes=%d, and %s has classes=%d", head->title->key, classes,
                  m->data_path, m->data_classes);
}

/* Note the anchors of this head's mask alone; a cfg gives all anchors to each of its heads. */
static void take_anchors(const struct model *m, const ddp_cfg_section *head)
{
    const ddp_cfg_line *line = ddp_cfg_find(head, "anchors");
    const ddp_cfg_line *mask = ddp_cfg_find(head, "mask");
    const char *at = line ? line->value : "";
    double values[2 * DDP_ANCHORS_MOST];
    int count = 0, i;
    ddp_heads *heads = m->heads;

    if (!is(head, "[yolo]") || m->width < 1 || m->height < 1)
        return;
    while (*at && count < 2 * DDP_ANCHORS_MOST && !ddp_numbers_next(&at, &values[count]))
        count++;
    at = mask ? mask->value : "";
    while (*at && heads->anchor_count < DDP_ANCHORS_MOST && !ddp_numbers_next_whole(&at, &i)) {
        if (i < 0 || i >= count / 2)
            continue;
        heads->anchors[2 * heads->anchor_count] = (float)values[2 * i] / (float)m->width;
        heads->anchors[2 * heads->anchor_count + 1] = (float)values[2 * i + 1] / (float)m->height;
        heads->anchor_count++;
    }
}

static void look_at_head(const struct model *m, const ddp_cfg_section *before,
                         const ddp_cfg_section *head)
{
    m->heads->count++;
    m->heads->classes = number_of(head, "classes", 20);
    m->heads->most_boxes = number_of(head, "max", is(head, "[region]") ? REGION_BOXES : YOLO_BOXES);
    m->heads->most_boxes_of_forks = number_of(head, "max", BOXES_OF_FORKS);
    if (are_readable(head)) {
        check_filters(m, before, head);
        check_classes(m, head);
    }
    take_anchors(m, head);
}

/* Check channels=: every command with a .data file loads pictures of three. */
static void check_channels(const struct model *m, const ddp_cfg_section *net)
{
    const ddp_cfg_line *line = ddp_cfg_find(net, "channels");

    if (is_readable(net, "channels") && number_of(net, "channels", CHANNELS) != CHANNELS)
        ddp_fault_add(m->f, DDP_FAULT_ERROR, "cfg-channels", m->cfg_path, line->number,
                      "channels=%s: pictures are loaded with red, green and blue, grey ones too: "
                      "channels=%d is wanted",
                      line->value, CHANNELS);
}

void ddp_check_model(ddp_faults *f, ddp_heads *heads, const ddp_cfg_text *cfg, const char *cfg_path,
                     const char *data_path, int classes)
{
    struct model m = {.f = f,
                      .heads = heads,
                      .cfg_path = cfg_path,
                      .data_path = data_path,
                      .data_classes = classes};
    ddp_cfg_section s, before = {0};
    size_t at = 0;

    *heads = (ddp_heads){0};
    while (ddp_cfg_next_section(cfg, &at, &s)) {
        if (is(&s, "[net]") || is(&s, "[network]")) {
            m.width = number_of(&s, "width", 0);
            m.height = number_of(&s, "height", 0);
            heads->width = m.width;
            heads->height = m.height;
            check_channels(&m, &s);
        } else if (is_head(&s)) {
            look_at_head(&m, before.title ? &before : NULL, &s);
        }
        before = s;
    }
}
