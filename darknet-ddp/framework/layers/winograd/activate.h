/* layers/winograd/activate.h: activations of outputs, for layers/winograd/. */
#ifndef LAYERS_WINOGRAD_ACTIVATE_H
#define LAYERS_WINOGRAD_ACTIVATE_H

#include "activations.h"

#include <stddef.h>

/* Activate x[0..count). */
void winograd_activate(float *x, size_t count, ACTIVATION activation);

#endif
