/* layers/inference/step.h: how a plan (plan.h) computes each layer. For this folder alone. */
#ifndef LAYERS_INFERENCE_STEP_H
#define LAYERS_INFERENCE_STEP_H

#include "layers/inference/plan.h"
#include "layers/winograd/rows.h"
#include "layers/winograd/winograd.h"

/* The images that a layer reads or writes: [image][row][column][channel], floats or bf16. */
typedef struct {
    int channels, height, width;
    void *values; /* NULL: no step reads the images in this form */
} inference_tensor;

typedef enum {
    STEP_OWN,    /* the layer is run by Darknet's code, on Darknet's arrays */
    STEP_ALIAS,  /* nothing runs: the output is that of the layer before ([dropout]) */
    STEP_DONE,   /* nothing runs: the convolution before it has written its output */
    STEP_PLANNED /* the step's function `run` computes the layer, on tensors */
} inference_kind;

/* How one layer is computed. A convolution may also compute the [shortcut] behind it. */
typedef struct inference_step inference_step;
struct inference_step {
    inference_kind kind;
    void (*run)(const inference_plan *p, const layer *l, const inference_step *s);
    int is_shown; /* 1: Darknet's code or the caller reads the output: write it to l.output, too */
    int is_read;  /* 1: a step of kind STEP_PLANNED reads the output */
    inference_tensor out; /* the layer's output */
    int is_convolution;   /* 1: the fields from shape to biases are used */
    convolution_shape shape;
    convolution *convolution; /* oneDNN's; NULL: winograd/ computes the shape */
    void *weights;            /* packed for the one that computes the shape */
    float *biases;
    ACTIVATION last; /* activation that Darknet's code applies to the result; LINEAR: none */
    /* index of the layer whose output is written: this layer, or the [shortcut] behind it */
    int writes;
    int adds; /* index of the layer whose output the [shortcut] adds; NO_SOURCE: no [shortcut] */
};

struct inference_plan {
    network *net;
    int bf16;   /* 1: tensors are bf16; 0: float32 */
    int images; /* images of a forward pass */
    inference_tensor input;
    int input_is_read;     /* 1: a step of kind STEP_PLANNED reads the network's input */
    inference_step *steps; /* steps[i]: how layer i is computed */
    void **slots;          /* blocks of memory; one serves several tensors, one at a time */
    size_t *slot_bytes;    /* slot_bytes[i]: size of memory block slots[i] */
    int slot_count;
    size_t weights_bytes; /* bytes of all packed weights */
    void *scratch;        /* scratch memory for one convolution at a time */
    size_t scratch_bytes;
};

/* Return `source`, the index of a layer. If it is a [dropout], return the index of the last layer
 * before it that is none. NETWORK_INPUT stays as it is. */
int inference_origin(const inference_plan *p, int source);

/* Return the tensor of layer i; NETWORK_INPUT: of the network's input. */
inference_tensor *inference_tensor_of(const inference_plan *p, int i);

/* Return how many bytes one value of a tensor has. */
size_t inference_value_bytes(const inference_plan *p);
/* Return how many bytes a tensor of all images has. */
size_t inference_tensor_bytes(const inference_plan *p, const inference_tensor *t);

/* Choose how layer i, a [convolutional], is computed, and set that in its step. Return 1, or 0 if
 * the plan cannot run the layer. */
int inference_plan_convolution(inference_plan *p, int i);

/* If layer i + 1 is a [shortcut] that convolution i can add, and no other layer reads i, let
 * convolution i compute both. Else change nothing. */
void inference_fuse_shortcut(inference_plan *p, int i);

/* Set packed weights and biases in the step of convolution i, with its BatchNorm folded in. Call
 * after inference_fuse_shortcut, which may change the step. */
void inference_fold(inference_plan *p, int i);

/* Function that computes a layer, which is no convolution, on tensors. */
typedef void (*inference_run)(const inference_plan *, const layer *, const inference_step *);
/* Return the function that computes layer i, no convolution; NULL: Darknet's code has to do it. */
inference_run inference_loop_of(const inference_plan *p, int i);

/* When all steps are planned, allocate memory for the tensors that they read or write. A tensor may
 * lie in the memory of another that no later step reads. A [shortcut] within a convolution may
 * overwrite the tensor that it adds. Without memory the program ends. */
void inference_share_memory(inference_plan *p);

/* Convert images of [channel][row][column] floats, as Darknet has them, to a tensor (pack), or a
 * tensor to such images (unpack). */
void inference_pack(const inference_plan *p, const float *from, const inference_tensor *to);
void inference_unpack(const inference_plan *p, const inference_tensor *from, float *to);

/* Apply activation a to all values of a tensor, by Darknet's functions. */
void inference_activate(const inference_plan *p, const inference_tensor *t, ACTIVATION a);

/* Allocate `bytes` zero bytes, aligned to 64; the caller frees them by free. Without memory the
 * program ends. */
void *inference_allocate(size_t bytes);

#endif
