/* layers/bf16/bf16_keys.h: the cfg keys of each layer type that can run in bf16.
 *
 * Layers in bf16 have their own forward and backward passes, which would ignore a new key of the
 * layer. So the test glue.bf16_keys fails unless each key that layers/cfg_keys.c has for the
 * section is in its row here, too. */
#ifndef BF16_KEYS_H
#define BF16_KEYS_H
#include "darknet.h"

typedef struct {
    LAYER_TYPE type;
    const char *section;    /* the section's name, with its brackets */
    const char *in_bf16;    /* keys that the layer obeys in bf16, separated by blanks */
    const char *in_float32; /* keys with which the layer may run in float32 instead */
} bf16_keys;

static const bf16_keys bf16_sections[] = {
    {CONVOLUTIONAL, "[convolutional]",
     "filters size stride pad padding groups activation batch_normalize flipped dot stride_x "
     "stride_y dilation "
     "share_index",
     "binary xnor"},
    {CONNECTED, "[connected]", "output activation batch_normalize", ""},
    {MAXPOOL, "[maxpool]", "size stride padding stride_x stride_y", "maxpool_depth out_channels"},
    {AVGPOOL, "[avgpool]", "", ""},
    {UPSAMPLE, "[upsample]", "scale", "stride"},
    {ROUTE, "[route]", "layers groups group_id", ""},
    {SCALE_CHANNELS, "[scale_channels]", "from scale_wh activation", ""},
    {SAM, "[sam]", "from activation", ""},
    {SHORTCUT, "[shortcut]", "activation alpha beta", "from weights_type weights_normalization"},
};

#endif
