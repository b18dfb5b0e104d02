/* layers/onednn/channels.h: copies float images from Darknet's NCHW to NHWC, and back. */
#ifndef LAYERS_ONEDNN_CHANNELS_H
#define LAYERS_ONEDNN_CHANNELS_H
#ifdef DNNL

/* Copy images from NCHW ([image][channel][row][column]) to NHWC ([image][row][column][channel]). */
void channels_to_last(int images, int channels, int height, int width, const float *nchw,
                      float *nhwc);

/* Copy images from NHWC to NCHW. */
void channels_to_planes(int images, int channels, int height, int width, const float *nhwc,
                        float *nchw);

#endif
#endif
