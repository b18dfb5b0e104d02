/* layers/layer_table.h: the table of layers, a line each, that a network prints while it is made
 * from its cfg. */
#ifndef DDP_LAYERS_LAYER_TABLE_H
#define DDP_LAYERS_LAYER_TABLE_H

#include "darknet.h"

/* Gets the table once the network is there, in place of standard error; null: it is printed as it
   comes. bytes: of the host's memory, what the network takes. Set before a network is made. */
extern void (*layer_table_handler)(const network *net, const char *table, size_t bytes);

/* Between the first two `stderr` is the table. With the third the network is whole. On one thread
 * at a time. */
void layer_table_begin(void);
void layer_table_end(void);
void layer_table_show(const network *net);

/* The network is not made after all: what is printed next is an error. */
void layer_table_break(void);

#endif
