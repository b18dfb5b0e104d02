#include "layers/onednn/primitive.h"

#if defined(DNNL) && DNNL_VERSION_MAJOR >= 3

onednn_layout onednn_make_layout(int count, const dnnl_dims_t sizes, dnnl_data_type_t type,
                                 dnnl_format_tag_t tag)
{
    dnnl_memory_desc_t layout;

    onednn_check(dnnl_memory_desc_create_with_tag(&layout, count, sizes, type, tag), "layout");
    return layout;
}

void onednn_free_layout(onednn_layout layout)
{
    onednn_check(dnnl_memory_desc_destroy((dnnl_memory_desc_t)layout), "layout");
}

static const dnnl_dim_t *values_of(onednn_layout layout, dnnl_query_t what)
{
    const dnnl_dims_t *values = NULL;

    onednn_check(dnnl_memory_desc_query(layout, what, &values), "layout");
    return *values;
}

int onednn_find_blocks(onednn_layout layout, onednn_blocks *b)
{
    dnnl_format_kind_t kind;

    onednn_check(dnnl_memory_desc_query(layout, dnnl_query_format_kind, &kind), "layout");
    if (kind != dnnl_blocked)
        return 0;
    onednn_check(dnnl_memory_desc_query(layout, dnnl_query_inner_nblks_s32, &b->count), "layout");
    b->sizes = values_of(layout, dnnl_query_inner_blks);
    b->dimensions = values_of(layout, dnnl_query_inner_idxs);
    b->strides = values_of(layout, dnnl_query_strides);
    b->padded = values_of(layout, dnnl_query_padded_dims);
    return 1;
}

void onednn_append_activation(dnnl_post_ops_t list, dnnl_alg_kind_t kind, float alpha)
{
    onednn_check(dnnl_post_ops_append_eltwise(list, kind, alpha, 0), "activation");
}

void onednn_append_sum(dnnl_post_ops_t list, dnnl_data_type_t type)
{
    onednn_check(dnnl_post_ops_append_sum(list, 1, 0, type), "sum");
}

dnnl_primitive_desc_t onednn_describe_pass(convolution_pass pass, const onednn_window *w,
                                           const onednn_layouts *l,
                                           dnnl_primitive_attr_t attributes,
                                           dnnl_primitive_desc_t hint)
{
    dnnl_primitive_desc_t out = NULL;
    dnnl_status_t status;

    switch (pass) {
    case CONVOLUTION_BACKWARD_DATA:
        status = dnnl_convolution_backward_data_primitive_desc_create(
            &out, onednn_engine(), dnnl_convolution_direct, l->x, l->weights, l->y, w->strides,
            w->gaps, w->before, w->after, hint, attributes);
        break;
    case CONVOLUTION_BACKWARD_WEIGHTS:
        status = dnnl_convolution_backward_weights_primitive_desc_create(
            &out, onednn_engine(), dnnl_convolution_direct, l->x, l->weights, NULL, l->y,
            w->strides, w->gaps, w->before, w->after, hint, attributes);
        break;
    default:
        status = dnnl_convolution_forward_primitive_desc_create(
            &out, onednn_engine(), dnnl_forward_training, dnnl_convolution_direct, l->x, l->weights,
            l->bias, l->y, w->strides, w->gaps, w->before, w->after, attributes);
    }
    return status == dnnl_success ? out : NULL;
}
#endif
