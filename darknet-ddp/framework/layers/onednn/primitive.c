#include "layers/onednn/primitive.h"

#ifdef DNNL
#include "utils.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dnnl_engine_t engine;

static void make_engine(void)
{
    onednn_check(dnnl_engine_create(&engine, dnnl_cpu, 0), "engine");
}

dnnl_engine_t onednn_engine(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    (void)pthread_once(&once, make_engine);
    return engine;
}

void onednn_check(dnnl_status_t status, const char *what)
{
    if (status == dnnl_success)
        return;
    (void)fprintf(stderr, "oneDNN failed with status %d: %s\n", (int)status, what);
    error("oneDNN");
}

dnnl_alg_kind_t onednn_activation(ACTIVATION a, float *alpha)
{
    *alpha = 0;
    switch (a) {
    case LEAKY:
        *alpha = .1F;
        return dnnl_eltwise_relu;
    case RELU:
        return dnnl_eltwise_relu;
    case LOGISTIC:
        return dnnl_eltwise_logistic;
    case MISH:
        return dnnl_eltwise_mish;
    case SWISH:
        *alpha = 1;
        return dnnl_eltwise_swish;
    default:
        return dnnl_alg_kind_undef;
    }
}

static void append_activation(dnnl_post_ops_t list, ACTIVATION a)
{
    float alpha;
    dnnl_alg_kind_t kind = onednn_activation(a, &alpha);

    onednn_append_activation(list, kind, alpha);
}

dnnl_primitive_attr_t onednn_make_attributes(const convolution_shape *s, int add)
{
    dnnl_primitive_attr_t attributes;
    dnnl_post_ops_t list;

    onednn_check(dnnl_primitive_attr_create(&attributes), "attributes");
    onednn_check(dnnl_primitive_attr_set_scratchpad_mode(attributes, dnnl_scratchpad_mode_user),
                 "scratch");
    onednn_check(dnnl_post_ops_create(&list), "post-ops");
    if (s ? s->sum == CONVOLUTION_SUM_BEFORE : add)
        onednn_append_sum(list, s && s->bf16 ? dnnl_bf16 : dnnl_f32);
    if (s && s->activation != LINEAR)
        append_activation(list, s->activation);
    if (s && s->sum == CONVOLUTION_SUM_AFTER)
        onednn_append_sum(list, s->bf16 ? dnnl_bf16 : dnnl_f32);
    onednn_check(dnnl_primitive_attr_set_post_ops(attributes, list), "post-ops");
    onednn_check(dnnl_post_ops_destroy(list), "post-ops");
    return attributes;
}

int onednn_is_reference(dnnl_primitive_desc_t description)
{
    const char *name = NULL;

    onednn_check(dnnl_primitive_desc_query(description, dnnl_query_impl_info_str, 0, (void *)&name),
                 "the name of an implementation");
    return strncmp(name, "ref", 3) == 0;
}

void onednn_make_primitive(onednn_primitive *p, dnnl_primitive_desc_t description)
{
    p->description = description;
    onednn_check(dnnl_primitive_create(&p->primitive, description), "primitive");
    p->scratch = dnnl_memory_desc_get_size(onednn_layout_of(p, dnnl_query_scratchpad_md));
}

onednn_layout onednn_layout_of(const onednn_primitive *p, dnnl_query_t query)
{
    return dnnl_primitive_desc_query_md(p->description, query, 0);
}

void onednn_run(const onednn_primitive *p, const onednn_argument *arguments, int count,
                void *scratch)
{
    dnnl_exec_arg_t list[5];
    dnnl_stream_t stream;

    for (int i = 0; i < count; ++i) {
        list[i].arg = arguments[i].argument;
        onednn_check(dnnl_memory_create(&list[i].memory, arguments[i].layout, onednn_engine(),
                                        arguments[i].data),
                     "memory");
    }
    if (p->scratch) {
        list[count].arg = DNNL_ARG_SCRATCHPAD;
        onednn_check(dnnl_memory_create(&list[count].memory,
                                        onednn_layout_of(p, dnnl_query_scratchpad_md),
                                        onednn_engine(), scratch),
                     "scratch");
        ++count;
    }
    onednn_check(dnnl_stream_create(&stream, onednn_engine(), dnnl_stream_default_flags), "stream");
    onednn_check(dnnl_primitive_execute(p->primitive, stream, count, list), "execute");
    onednn_check(dnnl_stream_wait(stream), "wait");
    onednn_check(dnnl_stream_destroy(stream), "stream");
    for (int i = 0; i < count; ++i)
        onednn_check(dnnl_memory_destroy(list[i].memory), "memory");
}

int onednn_copy(onednn_layout from, const void *data, onednn_layout to, void *out, int add)
{
    dnnl_primitive_attr_t attributes;
    dnnl_primitive_desc_t description;
    dnnl_status_t status;
    onednn_primitive p;
    void *scratch = NULL;

    attributes = onednn_make_attributes(NULL, add);
    status = dnnl_reorder_primitive_desc_create(&description, from, onednn_engine(), to,
                                                onednn_engine(), attributes);
    onednn_check(dnnl_primitive_attr_destroy(attributes), "attributes");
    if (status == dnnl_unimplemented)
        return 0;
    onednn_check(status, "reorder");
    onednn_make_primitive(&p, description);
    if (p.scratch && posix_memalign(&scratch, 64, p.scratch))
        malloc_error();
    onednn_run(&p, (onednn_argument[]){{DNNL_ARG_FROM, from, (void *)data}, {DNNL_ARG_TO, to, out}},
               2, scratch);
    free(scratch);
    onednn_check(dnnl_primitive_destroy(p.primitive), "reorder");
    onednn_check(dnnl_primitive_desc_destroy(p.description), "reorder");
    return 1;
}
#endif
