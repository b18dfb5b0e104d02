/* layers/onednn/primitive.h: one interface to oneDNN's primitives, over the C interfaces of its
 * versions 2 and 3.
 *
 * interface_v2.c and interface_v3.c (a build uses one) have what differs; primitive.c has what is
 * the same in both. For the files of layers/onednn/ alone. A failure ends the program, unless a
 * function says what it returns then. */
#ifndef LAYERS_ONEDNN_PRIMITIVE_H
#define LAYERS_ONEDNN_PRIMITIVE_H
#ifdef DNNL

#include "layers/onednn/convolution.h"

#include <dnnl.h>

#if DNNL_VERSION_MAJOR >= 3
typedef const_dnnl_memory_desc_t onednn_layout;
#else
typedef const dnnl_memory_desc_t *onednn_layout;
#endif

/* A primitive and its description. */
typedef struct {
    dnnl_primitive_desc_t description;
    dnnl_primitive_t primitive;
    size_t scratch; /* bytes of scratch memory that a run needs from its caller */
} onednn_primitive;

/* The memory of one argument of a primitive. */
typedef struct {
    int argument; /* one of oneDNN's DNNL_ARG_... */
    onednn_layout layout;
    void *data;
} onednn_argument;

/* ---- functions that interface_v2.c and interface_v3.c each have ---- */

/* Return the layout of a tensor of sizes[0..count); the caller frees it by onednn_free_layout. */
onednn_layout onednn_make_layout(int count, const dnnl_dims_t sizes, dnnl_data_type_t type,
                                 dnnl_format_tag_t tag);
void onednn_free_layout(onednn_layout layout);

/* How a layout that cuts dimensions into nested blocks places values. Distances and sizes are in
 * values. */
typedef struct {
    int count;                    /* number of nested blocks */
    const dnnl_dim_t *sizes;      /* size of each block, the outermost first */
    const dnnl_dim_t *dimensions; /* number of the dimension that each block cuts */
    const dnnl_dim_t *strides; /* each dimension's distance from one outermost block to the next */
    const dnnl_dim_t *padded;  /* each dimension's size, rounded up to whole blocks */
} onednn_blocks;

/* Fill *b from a layout, which must live longer than *b. Return 0 if oneDNN keeps the layout's form
 * to itself. */
int onednn_find_blocks(onednn_layout layout, onednn_blocks *b);

/* The window of a convolution, as oneDNN counts: rows first, gaps 0 without dilation. */
typedef struct {
    dnnl_dims_t strides, gaps, before, after;
} onednn_window;

/* The tensors of a convolution, or their gradients. bias may be NULL. */
typedef struct {
    onednn_layout x, weights, bias, y;
} onednn_layouts;

/* Return the description of a pass of a convolution; NULL if oneDNN has none. hint: for a backward
 * pass the description of the forward pass, else NULL. The caller destroys the result. */
dnnl_primitive_desc_t onednn_describe_pass(convolution_pass pass, const onednn_window *w,
                                           const onednn_layouts *l,
                                           dnnl_primitive_attr_t attributes,
                                           dnnl_primitive_desc_t hint);

/* Append an activation, with its parameter alpha, to the list of what a primitive does to its
 * result. */
void onednn_append_activation(dnnl_post_ops_t list, dnnl_alg_kind_t kind, float alpha);
/* Append an operation to the list: add what y held, of this type, to the result. */
void onednn_append_sum(dnnl_post_ops_t list, dnnl_data_type_t type);

/* ---- functions of primitive.c, for all versions of oneDNN ---- */

/* Return the process's engine, made at the first call. */
dnnl_engine_t onednn_engine(void);

/* End the program if status is a failure; the message says that `what` failed. */
void onednn_check(dnnl_status_t status, const char *what);

/* Return oneDNN's name of an activation, and set *alpha to its parameter; dnnl_alg_kind_undef for
 * LINEAR and activations that are left to Darknet. */
dnnl_alg_kind_t onednn_activation(ACTIVATION a, float *alpha);

/* Return the attributes of a primitive whose scratch memory the caller gives; the caller destroys
 * them. If s is not NULL, the primitive ends with the sum and activation of shape s, and `add` is
 * ignored. If s is NULL, add says what becomes of the result. 1: it is added to the floats in its
 * memory; 0: it replaces them. */
dnnl_primitive_attr_t onednn_make_attributes(const convolution_shape *s, int add);

/* Return 1 if a description's implementation is oneDNN's reference: plain loops, a hundred times as
 * slow as the others. */
int onednn_is_reference(dnnl_primitive_desc_t description);

/* Make *p, the primitive of `description`. *p then owns the description. */
void onednn_make_primitive(onednn_primitive *p, dnnl_primitive_desc_t description);

/* Return the layout of a primitive's argument, owned by p; query: dnnl_query_src_md and so on. */
onednn_layout onednn_layout_of(const onednn_primitive *p, dnnl_query_t query);

/* Run p and wait for it. scratch: p->scratch bytes. count: number of arguments, at most 4. */
void onednn_run(const onednn_primitive *p, const onednn_argument *arguments, int count,
                void *scratch);

/* Copy a tensor from data, in layout `from`, to out, in layout `to`. add: 1 adds the tensor to the
 * floats that out holds. Return 1; 0, with out unchanged, if oneDNN cannot do this (between some
 * layouts it cannot add). */
int onednn_copy(onednn_layout from, const void *data, onednn_layout to, void *out, int add);

#endif
#endif
