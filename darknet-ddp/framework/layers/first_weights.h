#ifndef FIRST_WEIGHTS_H
#define FIRST_WEIGHTS_H

/*
 * The first weights of a convolution, where each output sums n inputs and scale = sqrt(2/n).
 * Darknet draws them from a normal distribution of deviation scale (He et al. 2015, with which a
 * layer's outputs vary as much as its inputs); the later forks evenly from -scale to scale, a
 * deviation smaller by sqrt(3). Both draw the weights of [connected], [local] and [implicit]
 * evenly, and those of [deconvolutional] normally.
 */
typedef enum { NORMAL_WEIGHTS, UNIFORM_WEIGHTS } FIRST_WEIGHTS;

/* Choose the first weights of the convolutions that this thread makes after the call. Before it
 * they are NORMAL_WEIGHTS. */
void choose_first_weights(FIRST_WEIGHTS kind);

/* n weights, from the stream of draw(). */
void draw_first_weights(float *weights, int n, float scale);

#endif
