#include "layers/cfg_keys.h"
#include "activations.h"
#include "layers/heads/yolo_keys.h"
#include "text/numbers.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Keys that the parser reads in the section of any layer.
static const char layer_keys[] =
    "truth onlyforward stopbackward dontsave dontload numload dontloadscales learning_rate smooth";

static const cfg_section sections[] = {
    {"[net] [network]", NETWORK, 0,
     "batch subdivisions time_steps notruth random learning_rate momentum decay adam B1 B2 eps "
     "height width channels inputs max_crop min_crop max_ratio min_ratio center clip "
     "angle aspect saturation exposure hue "
     "policy burn_in power step scale steps scales gamma max_batches weights_init",
     "yolo_math letter_box mosaic mosaic_bound mixup cutmix blur gaussian_noise label_smooth_eps "
     "flip resize_step "
     "ema_alpha learning_rate_min sgdr_cycle sgdr_mult dynamic_minibatch"},
    {"[convolutional] [conv]", CONVOLUTIONAL, 0,
     "filters size stride pad padding groups activation batch_normalize binary xnor flipped dot",
     "stride_x stride_y dilation share_index"},
    {"[deconvolutional] [deconv]", DECONVOLUTIONAL, 0,
     "filters size stride pad padding activation batch_normalize", ""},
    {"[local]", LOCAL, 0, "filters size stride pad activation", ""},
    {"[connected] [conn]", CONNECTED, 0, "output activation batch_normalize", ""},
    {"[batchnorm]", BATCHNORM, 0, "", ""},
    {"[activation]", ACTIVE, 0, "activation", ""},
    {"[maxpool] [max]", MAXPOOL, 0, "size stride padding",
     "stride_x stride_y maxpool_depth out_channels"},
    {"[avgpool] [avg]", AVGPOOL, 0, "", ""},
    {"[dropout]", DROPOUT, 0, "probability", ""},
    {"[normalization] [lrn]", NORMALIZATION, 0, "alpha beta kappa size", ""},
    {"[l2norm]", L2NORM, 0, "", ""},
    {"[crop]", CROP, 0, "crop_height crop_width flip angle saturation exposure noadjust shift", ""},
    {"[reorg]", REORG, 0, "stride reverse flatten extra", ""},
    {"[upsample]", UPSAMPLE, 0, "stride scale", ""},
    {"[route]", ROUTE, 0, "layers", "groups group_id"},
    {"[shortcut]", SHORTCUT, 0, "from activation alpha beta", "weights_type weights_normalization"},
#define FORKS_LAYER(type, name, reads, keys) {"[" #name "]", type, 1, keys, ""},
#include "layers/forks_layers.def"
    {"[rnn]", RNN, 0, "output activation batch_normalize shortcut", ""},
    {"[crnn]", CRNN, 0, "output_filters hidden_filters activation batch_normalize shortcut", ""},
    {"[gru]", GRU, 0, "output batch_normalize tanh", ""},
    {"[lstm]", LSTM, 0, "output batch_normalize", ""},
    {"[softmax] [soft]", SOFTMAX, 0, "groups temperature tree spatial noloss", ""},
    {"[logistic]", LOGXENT, 0, "", ""},
    {"[cost]", COST, 0, "type scale ratio noobj thresh", ""},
    {"[detection]", DETECTION, 0,
     "coords classes rescore num side softmax sqrt max coord_scale forced object_scale "
     "noobject_scale class_scale "
     "jitter random reorg",
     ""},
    {"[region]", REGION, 0,
     "coords classes num log sqrt softmax background max jitter rescore thresh classfix absolute "
     "random coord_scale "
     "object_scale noobject_scale mask_scale class_scale bias_match tree map anchors",
     "resize"},
    {"[yolo]", YOLO, 0,
     "classes num mask max jitter ignore_thresh truth_thresh random map anchors nms_kind beta_nms",
     YOLO_KEYS(YOLO_KEY_NAME, YOLO_KEY_NAME, YOLO_KEY_NAME) "counters_per_class resize"},
    {"[iseg]", ISEG, 0, "classes ids", ""},
};

// Known, and without effect on what is learnt. An empty section is any.
static const struct {
    const char *section, *keys, *reason;
} ignored[] = {
    {"[net]", "seen", "the weights file counts the images"},
    {"[net]", "show_receptive_field", "only of what is printed"},
    {"[net]", "max_chart_loss", "only of the chart, which is not drawn"},
    {"[net]", "loss_scale", "for half precision, which is not used"},
    {"[net]", "optimized_memory workspace_size_limit_MB use_cuda_graph",
     "only of a GPU's memory and speed"},
    {"[net]", "augment_speed sequential_subdivisions seq_scales",
     "only with track=, which is not built"},
    {"[rnn]", "hidden", "a layer's hidden state is as large as its output"},
    {"[yolo]", "beta1", "only of testing, and the forks do not read it"},
    {"[yolo]", "uc_normalizer", "only of [Gaussian_yolo]"},
    {"[yolo]", "show_details", "only of what is printed"},
    {"[yolo]", "track_history_size sim_thresh dets_for_track dets_for_show track_ciou_norm",
     "only of tracking objects in videos"},
    {"[net]", "try_fix_nan", "mends what became nan, and spoils the model: look for the reason"},
    {"[convolutional]", "angle", "only with rotate=, which is not built"},
    {"", "stream wait_stream", "only of a GPU's speed"},
};

// Keys of the forks that are not built here.
static const struct {
    const char *section, *keys;
} lacking[] = {
    {"[net]", "track contrastive contrastive_jit_flip contrastive_color unsupervised attention "
              "adversarial_lr equidistant_point "
              "weights_reject_freq badlabels_rejection_percentage num_sigmas_reject_badlabels"},
    {"[convolutional]", "antialiasing assisted_excitation cbn bin_output sway rotate stretch "
                        "stretch_sway grad_centr reverse coordconv"},
    {"[maxpool]", "antialiasing maxpool_zero_nonmax"},
    {"[dropout]", "dropblock dropblock_size_rel dropblock_size_abs"},
    {"[yolo]", "embedding_layer"},
    {"[region]", "focal_loss"},
    {"[detection]", "resize"},
    {"", "clip dont_update burnin_update train_only_bn"},
};

// Is the word one of those that blanks separate?
static int has_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    while (*words) {
        size_t length = strcspn(words, " ");
        if (length == n && !strncmp(words, word, n))
            return 1;
        words += length;
        words += strspn(words, " ");
    }
    return 0;
}

const cfg_section *cfg_find_section(const char *name)
{
    size_t i;
    for (i = 0; i < sizeof(sections) / sizeof(sections[0]); ++i) {
        if (has_word(sections[i].names, name))
            return sections + i;
    }
    return 0;
}

int cfg_reads_key(const cfg_section *s, const char *key)
{
    if (has_word(s->keys, key) || has_word(s->v4_keys, key))
        return 1;
    return s->type != NETWORK && has_word(layer_keys, key);
}

int cfg_lacks_key(const cfg_section *s, const char *key)
{
    size_t i;
    for (i = 0; i < sizeof(lacking) / sizeof(lacking[0]); ++i) {
        if (*lacking[i].section && !has_word(s->names, lacking[i].section))
            continue;
        if (has_word(lacking[i].keys, key))
            return 1;
    }
    return 0;
}

const char *cfg_ignores_key(const cfg_section *s, const char *key, const char *value)
{
    size_t i;
    for (i = 0; i < sizeof(ignored) / sizeof(ignored[0]); ++i) {
        if (*ignored[i].section && !has_word(s->names, ignored[i].section))
            continue;
        if (has_word(ignored[i].keys, key))
            return ignored[i].reason;
    }
    return cfg_lacks_key(s, key) && !strcmp(value, "0") ? "off" : 0;
}

// Appends words that blanks separate, with commas; what has no room is left out.
static void add_words(char *list, size_t size, const char *words)
{
    size_t at = strlen(list);
    if (at && *words)
        at += (size_t)snprintf(list + at, size - at, ", ");
    for (; *words && at + 2 < size; ++words) {
        if (*words == ' ')
            list[at++] = ',';
        list[at++] = *words;
    }
    list[at] = 0;
}

const char *cfg_keys(const cfg_section *s)
{
    static char list[2048];
    *list = 0;
    add_words(list, sizeof(list), s->keys);
    add_words(list, sizeof(list), s->v4_keys);
    if (s->type != NETWORK)
        add_words(list, sizeof(list), layer_keys);
    return list;
}

const char *cfg_hint_or_keys(const cfg_section *s, const char *hint)
{
    enum { SOME = 5 };
    static char text[256];
    const char *all = cfg_keys(s), *end = all, *at;
    int more = 0, i;
    if (*hint)
        return hint;
    for (i = 0; i < SOME && *end; ++i)
        end += strcspn(end + 1, ",") + 1;
    for (at = end; *at; ++at)
        more += *at == ',';
    snprintf(text, sizeof(text), ", which has %.*s", (int)(end - all), all);
    if (more)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), " and %d more", more);
    return text;
}

const char *cfg_sections(void)
{
    static char list[2048];
    size_t i;
    *list = 0;
    for (i = 0; i < sizeof(sections) / sizeof(sections[0]); ++i)
        add_words(list, sizeof(list), sections[i].names);
    return list;
}

int cfg_is_v4(const cfg_section *s, const char *key, const char *value)
{
    ACTIVATION a;
    if (s->type == NETWORK && !strcmp(key, "yolo_math"))
        return !strcmp(value, "v4");
    if (s->type == NETWORK && !strcmp(key, "policy"))
        return !strcmp(value, "sgdr");
    if (!strcmp(key, "activation") && find_activation(value, &a))
        return activation_is_v4(a);
    return has_word(s->v4_keys, key);
}

// A value fits from `least` to `most`, without the ends that `open` names.
enum { LEAST = 1, MOST = 2 };

static const struct {
    LAYER_TYPE section;
    const char *keys;
    double least, most;
    int open;
    const char *must;
} ranges[] = {
    {NETWORK, "learning_rate learning_rate_min decay burn_in hue saturation exposure aspect scales",
     0, INFINITY, 0, "must not be negative"},
    {NETWORK, "max_crop min_crop", 1, INFINITY, 0, "must be at least 1"},
    {NETWORK, "momentum B1 B2", 0, 1, MOST, "must be from 0 to less than 1"},
    {DETECTION, "jitter", 0, 1, MOST, "must be from 0 to less than 1"},
    {REGION, "jitter", 0, 1, MOST, "must be from 0 to less than 1"},
    {REGION, "thresh", 0, 1, 0, "must be from 0 to 1"},
    {REGION, "anchors", 0, INFINITY, LEAST, "must be more than 0, each of them"},
    {YOLO, "jitter label_smooth_eps", 0, 1, MOST, "must be from 0 to less than 1"},
    {YOLO, "ignore_thresh iou_thresh", 0, 1, 0, "must be from 0 to 1"},
    {YOLO, "anchors", 0, INFINITY, LEAST, "must be more than 0, each of them"},
    {YOLO, "scale_x_y", 0, INFINITY, LEAST, "must be more than 0"},
    {YOLO, "iou_normalizer cls_normalizer obj_normalizer delta_normalizer max_delta", 0, INFINITY,
     0, "must not be negative"},
};

static int fits(size_t range, double value)
{
    double least = ranges[range].least, most = ranges[range].most;
    if (ranges[range].open & LEAST ? value <= least : value < least)
        return 0;
    return ranges[range].open & MOST ? value < most : value <= most;
}

static int all_fit(size_t range, const char *values)
{
    double value;
    while (*values && !ddp_numbers_next(&values, &value)) {
        if (!fits(range, value))
            return 0;
    }
    return 1;
}

const char *cfg_out_of_range(const cfg_section *s, const char *key, const char *value)
{
    size_t i;
    for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); ++i) {
        if (ranges[i].section == s->type && has_word(ranges[i].keys, key))
            return all_fit(i, value) ? 0 : ranges[i].must;
    }
    return 0;
}
