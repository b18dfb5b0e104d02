/* layers/forks_layer_rows.h: the table of layer types that later forks of Darknet brought.
 *
 * ROW(TYPE, name, reads, keys), a row each:
 *   TYPE   value of LAYER_TYPE
 *   name   the section's name in a cfg, and part of the names of its functions: forks_layers.h
 *   reads  which layers it reads, and how its delta comes about: the flags of graph.c
 *   keys   the keys of its section, besides those that all layers have
 *
 * From these rows come LAYER_TYPE, get_layer_string, graph.c's and cfg_keys.c's rows, the prototypes,
 * and the calls of parser and resize_network. A cfg with such a section trains by the later forks'
 * formulas. */
#ifndef FORKS_LAYER_ROWS_H
#define FORKS_LAYER_ROWS_H

#define FORKS_LAYERS(ROW)                                                                          \
    ROW(SCALE_CHANNELS, scale_channels, BEFORE | INDEX | PASSES_ON, "from scale_wh activation")    \
    ROW(SAM, sam, BEFORE | INDEX | PASSES_ON, "from activation")                                   \
    ROW(IMPLICIT, implicit, PASSES_ON, "filters atoms mean std")

#define FORKS_LAYER_TYPE(type, name, reads, keys) type,

#define FORKS_LAYER_NAME_CASE(type, name, reads, keys)                                             \
    case type:                                                                                     \
        return #name;

#endif
