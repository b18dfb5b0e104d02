/* layers/bf16/bf16_keys.h: which cfg keys the bf16 code of each layer type knows.
 *
 * bf16 has forward and backward passes of its own, which would ignore a key that they do not know.
 * So each key that layers/cfg_keys.c gives such a section must stand in a row here; else the test
 * glue.bf16_keys fails. */
#ifndef BF16_KEYS_H
#define BF16_KEYS_H
#include "darknet.h"

typedef struct {
    LAYER_TYPE type;
    const char *section;    /* the section's name, with its brackets */
    const char *in_bf16;    /* keys that the layer obeys in bf16, separated by blanks */
    const char *in_float32; /* keys whose values may keep the layer in float32 (can_run) */
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
