/* layers/first_weights.h: draws the first, random weights of a convolution.
 *
 * Each output sums k inputs; scale = sqrt(2/k). Darknet draws from a normal distribution of
 * deviation `scale` (He et al. 2015). Its later forks draw evenly from -scale to scale, whose
 * deviation is scale/sqrt(3). Layers of other types draw by themselves: [connected], [local] and
 * [implicit] evenly, [deconvolutional] normally. */
#ifndef FIRST_WEIGHTS_H
#define FIRST_WEIGHTS_H

typedef enum { NORMAL_WEIGHTS, UNIFORM_WEIGHTS } FIRST_WEIGHTS;

/* Choose how this thread's draw_first_weights draws from now on. At first it is NORMAL_WEIGHTS. */
void choose_first_weights(FIRST_WEIGHTS kind);

/* Choose whether this thread's draw_first_weights leaves the weights as they are (1), or draws (0,
 * as at first). Use 1 for a network whose weights are read from a file. */
void skip_first_weights(int skips);

/* Draw a convolution's n first weights, as this thread's choose_first_weights says. After
 * skip_first_weights(1) leave the weights as they are. `scale`: sqrt(2/k). */
void draw_first_weights(float *weights, int n, float scale);

#endif
