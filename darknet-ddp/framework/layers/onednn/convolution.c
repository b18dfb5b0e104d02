#include "layers/onednn/convolution.h"

int convolution_out_height(const convolution_shape *s)
{
    return (s->height + 2 * s->pad - s->dilation * (s->size - 1) - 1) / s->stride_y + 1;
}

int convolution_out_width(const convolution_shape *s)
{
    return (s->width + 2 * s->pad - s->dilation * (s->size - 1) - 1) / s->stride_x + 1;
}

#ifdef DNNL
#include "blas.h"
#include "layers/onednn/half.h"
#include "layers/onednn/handle.h"

int convolution_has_bf16(void)
{
    switch ((int)dnnl_get_effective_cpu_isa()) {
    case dnnl_cpu_isa_avx512_core_bf16:
    case dnnl_cpu_isa_avx512_core_amx:
#if DNNL_VERSION_MAJOR >= 3
    case dnnl_cpu_isa_avx512_core_fp16:
    case dnnl_cpu_isa_avx512_core_amx_fp16:
#endif
        return 1;
    default:
        return 0;
    }
}

int convolution_has_amx(void)
{
    return convolution_has_bf16()
           && ((int)dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core_amx)
                  == dnnl_cpu_isa_avx512_core_amx;
}

int convolution_has_fast_bf16(void)
{
#ifdef __x86_64__
    return convolution_has_amx() || (convolution_has_bf16() && __builtin_cpu_is("amd"));
#else
    return convolution_has_bf16();
#endif
}

int convolution_can_activate(ACTIVATION a)
{
    float alpha;

    return a == LINEAR || onednn_activation(a, &alpha) != dnnl_alg_kind_undef;
}

/* ---- descriptions ---- */

static int distance(int places, int stride, int reach, int side, int pad)
{
    /* oneDNN wants what of the padding is behind the last pixel that a window reads. */
    return (places - 1) * stride + reach - side - pad;
}

static onednn_window window_of(const convolution_shape *s)
{
    const int reach = s->dilation * (s->size - 1) + 1;
    onednn_window w = {
        .strides = {s->stride_y, s->stride_x},
        .gaps = {s->dilation - 1, s->dilation - 1},
        .before = {s->pad, s->pad},
        .after = {distance(convolution_out_height(s), s->stride_y, reach, s->height, s->pad),
                  distance(convolution_out_width(s), s->stride_x, reach, s->width, s->pad)},
    };

    return w;
}

static onednn_layout weights_layout(const convolution_shape *s, dnnl_data_type_t type, int is_plain)
{
    const dnnl_dims_t whole = {s->filters, s->channels, s->size, s->size};
    const dnnl_dims_t by_group = {s->groups, s->filters / s->groups, s->channels / s->groups,
                                  s->size, s->size};
    const dnnl_format_tag_t plain = s->groups > 1 ? dnnl_goihw : dnnl_oihw;

    return onednn_make_layout(s->groups > 1 ? 5 : 4, s->groups > 1 ? by_group : whole, type,
                              is_plain ? plain : dnnl_format_tag_any);
}

/* The weights of a convolution that is turned (make_turned), in the order of the other. */
static onednn_layout turned_layout(const convolution_shape *s)
{
    const dnnl_dims_t whole = {s->filters, s->channels, 1, 1};

    return onednn_make_layout(4, whole, dnnl_f32, dnnl_iohw);
}

int onednn_make_pass(convolution *c, convolution_pass pass, onednn_primitive *p)
{
    const convolution_shape *s = &c->shape;
    const dnnl_data_type_t type = s->bf16 ? dnnl_bf16 : dnnl_f32;
    const dnnl_dims_t x = {s->images, s->channels, s->height, s->width};
    const dnnl_dims_t y = {s->images, s->filters, convolution_out_height(s),
                           convolution_out_width(s)};
    const dnnl_dims_t filters = {s->filters};
    const onednn_window window = window_of(s);
    const int is_forward = pass == CONVOLUTION_FORWARD;
    onednn_layouts l = {
        .x = onednn_make_layout(4, x, type, dnnl_nhwc),
        .weights = weights_layout(s, pass == CONVOLUTION_BACKWARD_WEIGHTS ? dnnl_f32 : type, 0),
        .bias = is_forward && s->has_bias ? onednn_make_layout(1, filters, dnnl_f32, dnnl_a) : NULL,
        .y = onednn_make_layout(4, y, type, dnnl_nhwc),
    };
    dnnl_primitive_attr_t attributes = onednn_make_attributes(is_forward ? s : NULL, 0);
    dnnl_primitive_desc_t description = onednn_describe_pass(
        pass, &window, &l, attributes, is_forward ? NULL : c->forward.description);

    onednn_check(dnnl_primitive_attr_destroy(attributes), "attributes");
    onednn_free_layout(l.x);
    onednn_free_layout(l.weights);
    onednn_free_layout(l.y);
    if (l.bias)
        onednn_free_layout(l.bias);
    if (!description)
        return 0;
    if (is_forward && onednn_is_reference(description)) {
        onednn_check(dnnl_primitive_desc_destroy(description), "a description");
        return 0;
    }
    onednn_make_primitive(p, description);
    return 1;
}

static void make_backward(convolution *c, convolution_pass pass, onednn_primitive *p)
{
    (void)pthread_mutex_lock(&c->mutex);
    if (!p->primitive && !onednn_make_pass(c, pass, p))
        onednn_check(dnnl_unimplemented, "the backward pass of a convolution");
    (void)pthread_mutex_unlock(&c->mutex);
}

const onednn_primitive *onednn_pass(convolution *c, convolution_pass pass)
{
    onednn_primitive *p =
        pass == CONVOLUTION_BACKWARD_DATA ? &c->backward_data : &c->backward_weights;

    if (pass == CONVOLUTION_FORWARD)
        return &c->forward;
    make_backward(c, pass, p);
    return p;
}

/* ---- dx by a forward pass ---- */

/* A convolution of 1x1 whose channels are c's filters, and whose filters are c's channels. */
static convolution *turn(const convolution *c, convolution_sum sum)
{
    convolution_shape s = c->shape;

    s.channels = c->shape.filters;
    s.filters = c->shape.channels;
    s.has_bias = 0;
    s.activation = LINEAR;
    s.sum = sum;
    return convolution_of(&s);
}

static void make_turned(convolution *c)
{
    const convolution_shape *s = &c->shape;
    convolution *set, *add;

    c->has_turned = 1;
    if (s->size != 1 || s->stride_x != 1 || s->stride_y != 1 || s->pad != 0 || s->groups > 1)
        return;
    set = turn(c, CONVOLUTION_SUM_NONE);
    add = turn(c, CONVOLUTION_SUM_AFTER);
    if (!set || !add || !convolution_same_packing(set, add, CONVOLUTION_FORWARD))
        return;
    c->turned[0] = set;
    c->turned[1] = add;
}

/* Return what computes pass CONVOLUTION_BACKWARD_DATA of c by its forward pass: oneDNN's is as fast
 * or faster, and can add to dx. Return NULL for another pass, or if nothing does. */
static convolution *turned_of(convolution *c, convolution_pass pass, int add)
{
    if (pass != CONVOLUTION_BACKWARD_DATA)
        return NULL;
    (void)pthread_mutex_lock(&c->mutex);
    if (!c->has_turned)
        make_turned(c);
    (void)pthread_mutex_unlock(&c->mutex);
    return c->turned[add];
}

/* ---- weights ---- */

static onednn_layout packed_layout(convolution *c, convolution_pass pass)
{
    const convolution *turned = turned_of(c, pass, 0);

    return onednn_layout_of(turned ? &turned->forward : onednn_pass(c, pass),
                            dnnl_query_weights_md);
}

size_t convolution_packed_bytes(convolution *c, convolution_pass pass)
{
    return dnnl_memory_desc_get_size(packed_layout(c, pass));
}

void convolution_pack(convolution *c, convolution_pass pass, const float *weights, void *packed)
{
    const onednn_layout layout = packed_layout(c, pass);
    const convolution *turned = turned_of(c, pass, 0);
    onednn_layout plain;

    if (onednn_pack_pairs(&c->shape, layout, turned != NULL, weights, packed))
        return;
    plain = turned ? turned_layout(&turned->shape) : weights_layout(&c->shape, dnnl_f32, 1);
    if (!onednn_copy(plain, weights, layout, packed, 0))
        onednn_check(dnnl_unimplemented, "packing weights");
    onednn_free_layout(plain);
}

int convolution_same_packing(convolution *a, convolution *b, convolution_pass pass)
{
    return dnnl_memory_desc_equal(packed_layout(a, pass), packed_layout(b, pass));
}

/* ---- passes ---- */

static size_t bytes_of(const convolution *c, int channels, int height, int width)
{
    const convolution_shape *s = &c->shape;

    return (size_t)s->images * (size_t)height * (size_t)width * (size_t)channels
           * (s->bf16 ? sizeof(unsigned short) : sizeof(float));
}

static size_t input_bytes(const convolution *c)
{
    return bytes_of(c, c->shape.channels, c->shape.height, c->shape.width);
}

static size_t gradient_bytes(const onednn_primitive *p)
{
    return dnnl_memory_desc_get_size(onednn_layout_of(p, dnnl_query_diff_weights_md));
}

/* Return the bytes of the floats of all weights, without gaps. */
static size_t plain_bytes(const convolution_shape *s)
{
    return (size_t)(s->filters * (s->channels / s->groups) * s->size * s->size) * sizeof(float);
}

size_t convolution_scratch_bytes(convolution *c, convolution_pass pass)
{
    const convolution *set = turned_of(c, pass, 0), *add = turned_of(c, pass, 1);
    const onednn_primitive *p;
    size_t bytes;

    if (set)
        return set->forward.scratch > add->forward.scratch ? set->forward.scratch
                                                           : add->forward.scratch;
    p = onednn_pass(c, pass);
    bytes = p->scratch;
    if (pass == CONVOLUTION_BACKWARD_DATA)
        bytes += onednn_round_up(input_bytes(c));
    if (pass == CONVOLUTION_BACKWARD_WEIGHTS)
        bytes += onednn_round_up(gradient_bytes(p)) + plain_bytes(&c->shape);
    return bytes;
}

void convolution_forward(convolution *c, const void *packed, const float *bias, const void *x,
                         void *y, void *scratch)
{
    const onednn_primitive *p = &c->forward;
    const onednn_argument arguments[] = {
        {DNNL_ARG_SRC, onednn_layout_of(p, dnnl_query_src_md), (void *)x},
        {DNNL_ARG_WEIGHTS, onednn_layout_of(p, dnnl_query_weights_md), (void *)packed},
        {DNNL_ARG_DST, onednn_layout_of(p, dnnl_query_dst_md), y},
        {DNNL_ARG_BIAS, dnnl_primitive_desc_query_md(p->description, dnnl_query_weights_md, 1),
         (void *)bias},
    };

    onednn_run(p, arguments, c->shape.has_bias ? 4 : 3, scratch);
}

enum { PART = 4096 /* values that a thread adds at a time */ };

VECTORIZE
static void add_floats(long count, const float *restrict from, float *restrict to)
{
    for (long i = 0; i < count; ++i)
        to[i] += from[i];
}

static void add_values(const void *from, void *to, size_t bytes, int bf16)
{
    const long count = (long)(bytes / (bf16 ? sizeof(unsigned short) : sizeof(float)));

#ifdef _OPENMP
#pragma omp parallel for
#endif
    for (long i = 0; i < count; i += PART) {
        const long n = count - i < PART ? count - i : PART;

        if (bf16)
            add_halves((size_t)n, (const unsigned short *)from + i, (unsigned short *)to + i);
        else
            add_floats(n, (const float *)from + i, (float *)to + i);
    }
}

static void compute_dx(convolution *c, const void *packed, const void *dy, void *dx, int add,
                       void *scratch)
{
    const onednn_primitive *p = onednn_pass(c, CONVOLUTION_BACKWARD_DATA);
    const onednn_layout layout = onednn_layout_of(p, dnnl_query_diff_src_md);
    void *out = add ? scratch : dx;
    const onednn_argument arguments[] = {
        {DNNL_ARG_DIFF_SRC, layout, out},
        {DNNL_ARG_WEIGHTS, onednn_layout_of(p, dnnl_query_weights_md), (void *)packed},
        {DNNL_ARG_DIFF_DST, onednn_layout_of(p, dnnl_query_diff_dst_md), (void *)dy},
    };

    onednn_run(p, arguments, 3, (char *)scratch + onednn_round_up(input_bytes(c)));
    if (add)
        add_values(out, dx, input_bytes(c), c->shape.bf16);
}

void convolution_backward_data(convolution *c, const void *packed, const void *dy, void *dx,
                               int add, void *scratch)
{
    convolution *turned = turned_of(c, CONVOLUTION_BACKWARD_DATA, add);

    if (turned)
        convolution_forward(turned, packed, NULL, dy, dx, scratch);
    else
        compute_dx(c, packed, dy, dx, add, scratch);
}

void convolution_backward_weights(convolution *c, const void *x, const void *dy, float *gradients,
                                  void *scratch)
{
    const onednn_primitive *p = onednn_pass(c, CONVOLUTION_BACKWARD_WEIGHTS);
    const onednn_layout layout = onednn_layout_of(p, dnnl_query_diff_weights_md);
    const onednn_argument arguments[] = {
        {DNNL_ARG_SRC, onednn_layout_of(p, dnnl_query_src_md), (void *)x},
        {DNNL_ARG_DIFF_WEIGHTS, layout, scratch},
        {DNNL_ARG_DIFF_DST, onednn_layout_of(p, dnnl_query_diff_dst_md), (void *)dy},
    };
    onednn_layout plain = weights_layout(&c->shape, dnnl_f32, 1);

    char *rest = (char *)scratch + onednn_round_up(gradient_bytes(p));

    onednn_run(p, arguments, 3, rest);
    if (!onednn_copy(layout, scratch, plain, gradients, 1)) {
        if (!onednn_copy(layout, scratch, plain, rest, 0))
            onednn_check(dnnl_unimplemented, "unpacking gradients");
        add_values(rest, gradients, plain_bytes(&c->shape), 0);
    }
    onednn_free_layout(plain);
}
#else
int convolution_has_bf16(void)
{
    return 0;
}

int convolution_has_amx(void)
{
    return 0;
}

int convolution_has_fast_bf16(void)
{
    return 0;
}
#endif
