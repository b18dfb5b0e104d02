#include "layers/onednn/primitive.h"

#if defined(DNNL) && DNNL_VERSION_MAJOR < 3
#include "utils.h"

#include <stdlib.h>

onednn_layout onednn_make_layout(int count, const dnnl_dims_t sizes, dnnl_data_type_t type,
                                 dnnl_format_tag_t tag)
{
    dnnl_memory_desc_t *layout = malloc(sizeof *layout);

    if (!layout)
        malloc_error();

    onednn_check(dnnl_memory_desc_init_by_tag(layout, count, sizes, type, tag), "layout");
    return layout;
}

void onednn_free_layout(onednn_layout layout)
{
    free((void *)layout);
}

int onednn_find_blocks(onednn_layout layout, onednn_blocks *b)
{
    const dnnl_blocking_desc_t *blocking = &layout->format_desc.blocking;

    b->count = blocking->inner_nblks;
    b->sizes = blocking->inner_blks;
    b->dimensions = blocking->inner_idxs;
    b->strides = blocking->strides;
    b->padded = layout->padded_dims;
    return layout->format_kind == dnnl_blocked
           && layout->extra.flags == dnnl_memory_extra_flag_none;
}

void onednn_append_activation(dnnl_post_ops_t list, dnnl_alg_kind_t kind, float alpha)
{
    onednn_check(dnnl_post_ops_append_eltwise(list, 1, kind, alpha, 0), "activation");
}

void onednn_append_sum(dnnl_post_ops_t list, dnnl_data_type_t type)
{
    onednn_check(dnnl_post_ops_append_sum_v2(list, 1, type), "sum");
}

static dnnl_status_t fill_convolution(dnnl_convolution_desc_t *c, convolution_pass pass,
                                      const onednn_window *w, const onednn_layouts *l)
{
    switch (pass) {
    case CONVOLUTION_BACKWARD_DATA:
        return dnnl_dilated_convolution_backward_data_desc_init(c, dnnl_convolution_direct, l->x,
                                                                l->weights, l->y, w->strides,
                                                                w->gaps, w->before, w->after);
    case CONVOLUTION_BACKWARD_WEIGHTS:
        return dnnl_dilated_convolution_backward_weights_desc_init(
            c, dnnl_convolution_direct, l->x, l->weights, NULL, l->y, w->strides, w->gaps,
            w->before, w->after);
    default:
        return dnnl_dilated_convolution_forward_desc_init(
            c, dnnl_forward_training, dnnl_convolution_direct, l->x, l->weights, l->bias, l->y,
            w->strides, w->gaps, w->before, w->after);
    }
}

dnnl_primitive_desc_t onednn_describe_pass(convolution_pass pass, const onednn_window *w,
                                           const onednn_layouts *l,
                                           dnnl_primitive_attr_t attributes,
                                           dnnl_primitive_desc_t hint)
{
    dnnl_convolution_desc_t c;
    dnnl_primitive_desc_t out = NULL;

    if (fill_convolution(&c, pass, w, l) != dnnl_success
        || dnnl_primitive_desc_create(&out, &c, attributes, onednn_engine(), hint) != dnnl_success)
        return NULL;
    return out;
}
#endif
