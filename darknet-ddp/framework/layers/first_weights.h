/* layers/first_weights.h: the first weights of a convolution. Each output sums some inputs; scale
 * = sqrt(2/inputs). Darknet draws the weights from a normal distribution of deviation `scale`, with
 * which a layer's outputs vary as much as its inputs (He et al. 2015). The later forks draw evenly
 * from -scale to scale, a deviation smaller by sqrt(3). The choice does not hold for other layers:
 * [connected], [local] and [implicit] draw evenly, [deconvolutional] normally. */
#ifndef FIRST_WEIGHTS_H
#define FIRST_WEIGHTS_H

typedef enum { NORMAL_WEIGHTS, UNIFORM_WEIGHTS } FIRST_WEIGHTS;

/* Choose how this thread's draw_first_weights draws from now on; NORMAL_WEIGHTS at first. */
void choose_first_weights(FIRST_WEIGHTS kind);

/* Have draw_first_weights on this thread draw nothing (1), or draw (0, as at first). Nothing is for
 * a network whose weights are then read from a file. */
void skip_first_weights(int skips);

/* Draw the n first weights of a convolution by draw(). scale: sqrt(2/k) if an output sums k inputs.
 */
void draw_first_weights(float *weights, int n, float scale);

#endif
