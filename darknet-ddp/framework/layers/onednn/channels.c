#include "layers/onednn/channels.h"

#ifdef DNNL
#include "layers/onednn/primitive.h"

static void copy(const dnnl_dims_t sizes, dnnl_format_tag_t from, const float *x,
                 dnnl_format_tag_t to, float *y)
{
    onednn_layout source = onednn_make_layout(4, sizes, dnnl_f32, from);
    onednn_layout target = onednn_make_layout(4, sizes, dnnl_f32, to);

    if (!onednn_copy(source, x, target, y, 0))
        onednn_check(dnnl_unimplemented, "the layout of images");
    onednn_free_layout(source);
    onednn_free_layout(target);
}

void channels_to_last(int images, int channels, int height, int width, const float *nchw,
                      float *nhwc)
{
    copy((dnnl_dims_t){images, channels, height, width}, dnnl_nchw, nchw, dnnl_nhwc, nhwc);
}

void channels_to_planes(int images, int channels, int height, int width, const float *nhwc,
                        float *nchw)
{
    copy((dnnl_dims_t){images, channels, height, width}, dnnl_nhwc, nhwc, dnnl_nchw, nchw);
}
#endif
