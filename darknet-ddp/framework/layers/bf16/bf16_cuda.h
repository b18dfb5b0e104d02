/* layers/bf16/bf16_cuda.h: functions of this folder's *.cu files. bf16_NAME_gpu becomes the member
 * NAME of a GPU's bf16_backend (bf16_cuda.c). */
#ifndef BF16_CUDA_H
#define BF16_CUDA_H
#ifdef CUDNN
#include "layers/bf16/backend.h"

void bf16_from_floats_gpu(size_t outer, int channels, int inner, const float *from, int set,
                          void *to);
void bf16_to_floats_gpu(size_t outer, int channels, int inner, const void *from, int set,
                        float *to);
int bf16_has_activation_gpu(ACTIVATION a);
void bf16_normalize_gpu(layer l, network net);
void bf16_normalize_and_add_gpu(layer l, network net, layer shortcut, float alpha,
                                const void *from);
void bf16_recompute_output_gpu(layer l, void *output);
void bf16_add_bias_gpu(layer l);
void bf16_normalize_backward_gpu(layer l, network net);
void bf16_normalize_and_add_backward_gpu(layer l, network net, layer shortcut, float alpha,
                                         int set_from, void *from_delta);
void bf16_add_bias_backward_gpu(layer l, network net);
/* Return how many bytes of net.workspace bf16_normalize... and bf16_add_bias... need to train l. */
size_t bf16_sums_bytes(layer l);
void bf16_maxpool_gpu(layer l, const void *input);
void bf16_maxpool_backward_gpu(layer l, int set, void *delta);
void bf16_upsample_gpu(layer l, const void *input);
void bf16_upsample_backward_gpu(layer l, int set, void *delta);
void bf16_avgpool_gpu(layer l, const void *input);
void bf16_avgpool_backward_gpu(layer l, int set, void *delta);
void bf16_copy_channels_gpu(size_t cells, int channels, const void *from, int from_channels,
                            int first_from, int set, void *to, int to_channels, int first_to);
void bf16_shortcut_gpu(layer l, const void *input, float alpha, const void *from);
void bf16_shortcut_backward_gpu(layer l, float alpha, int set, void *input_delta, int set_from,
                                void *from_delta);
void bf16_multiply_gpu(layer l, const void *x, const void *scales);
void bf16_multiply_backward_gpu(layer l, const void *x, const void *scales, int set_x,
                                void *x_delta, int set_scales, void *scales_delta);

#endif
#endif
