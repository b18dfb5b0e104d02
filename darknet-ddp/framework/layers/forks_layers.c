#include "layers/forks_layers.h"

#include "activations.h"
#include "cuda.h"
#include "layers/graph.h"
#include "layers/same_size.h"
#include "option_list.h"

#ifdef GPU
#define ON_GPU(function) function##_gpu
#else
#define ON_GPU(function) 0
#endif

static const struct {
    LAYER_TYPE type;
    layer (*parse)(list *options, size_params params);
    void (*resize)(layer *l, network *net);
    void (*forward)(layer l, network net);
    void (*backward)(layer l, network net);
    void (*forward_gpu)(layer l, network net);
    void (*backward_gpu)(layer l, network net);
} rows[] = {
#define FORKS_LAYER(type, name, reads, keys)                                                       \
    {type,                                                                                         \
     parse_##name##_layer,                                                                         \
     resize_##name##_layer,                                                                        \
     forward_##name##_layer,                                                                       \
     backward_##name##_layer,                                                                      \
     ON_GPU(forward_##name##_layer),                                                               \
     ON_GPU(backward_##name##_layer)},
#include "layers/forks_layers.def"
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static int row_of(LAYER_TYPE type)
{
    int i = 0;
    while (i < ROWS && rows[i].type != type)
        ++i;
    return i;
}

/* Count the values that the layer takes of a picture, and gives. Returns those of a mini-batch. */
static size_t count_values(layer *l)
{
    l->inputs = l->w * l->h * l->c;
    l->outputs = l->out_w * l->out_h * l->out_c;
    return (size_t)l->outputs * (size_t)l->batch;
}

int parse_forks_layer(layer *l, LAYER_TYPE type, list *options, size_params params)
{
    int i = row_of(type);
    size_t n;
    if (i == ROWS)
        return 0;
    *l = rows[i].parse(options, params);
    l->type = type;
    l->batch = params.batch;
    l->forward = rows[i].forward;
    l->backward = rows[i].backward;
    n = count_values(l);
    l->output = cpu_array(n);
    l->delta = cpu_array(n);
#ifdef GPU
    l->forward_gpu = rows[i].forward_gpu;
    l->backward_gpu = rows[i].backward_gpu;
    l->output_gpu = cuda_make_array(0, n);
    l->delta_gpu = cuda_make_array(0, n);
#endif
    make_activation_input(l);
    return 1;
}

int resize_forks_layer(layer *l, network *net)
{
    int i = row_of(l->type);
    size_t n;
    if (i == ROWS)
        return 0;
    rows[i].resize(l, net);
    n = count_values(l);
    resize_layer_output(l, n);
    make_activation_input(l);
    return 1;
}

int find_other_source(list *options, size_params params)
{
    int index = option_find_layer(options, "from", params);
    if (!layer_takes_gradient(params.net, index)
        || !layer_takes_gradient(params.net, params.index - 1))
        option_error(options, "from", "joins what takes no gradient, as [crop]");
    return index;
}
