/* layers/layer_table.h: the table of layers, a line each, that Darknet prints on standard error
 * while it makes a network from a cfg. With a handler, the text goes to the handler instead. One
 * network at a time is made. */
#ifndef DDP_LAYERS_LAYER_TABLE_H
#define DDP_LAYERS_LAYER_TABLE_H

#include "darknet.h"

/* Called with the table when the network is whole; `table` is freed after the call. bytes: host
 * memory that the network has taken. Null: the table is printed as it comes. Set the handler before
 * a network is made. */
extern void (*layer_table_handler)(const network *net, const char *table, size_t bytes);

/* Call these in this order while a network is made. If there is a handler, all that is printed on
 * stderr from begin to end becomes the table. show hands it to the handler, and frees it. Without a
 * handler they do nothing. */
void layer_table_begin(void);
void layer_table_end(void);
void layer_table_show(const network *net);

/* Drop the table because the network cannot be made. From then on stderr is standard error again.
 * Does nothing if there is no table. */
void layer_table_break(void);

#endif
