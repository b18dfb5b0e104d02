/* layers/layer_table.h: the table of layers, a line each, that Darknet prints on standard error
 * while it makes a network from a cfg. A handler can take it instead. Make one network at a time.
 */
#ifndef DDP_LAYERS_LAYER_TABLE_H
#define DDP_LAYERS_LAYER_TABLE_H

#include "darknet.h"

/* Handler that gets the table of each network that is made from now on; null: tables are printed.
 * `bytes`: host memory that the network takes. `table` is freed after the call. */
extern void (*layer_table_handler)(const network *net, const char *table, size_t bytes);

/* Call these in this order while a network is made. With a handler, all that is printed on stderr
 * between begin and end becomes the table, which show gives to the handler. Else: nothing. */
void layer_table_begin(void);
void layer_table_end(void);
void layer_table_show(const network *net);

/* Free the table, if any, and restore stderr. Call if a network cannot be made. */
void layer_table_drop(void);

#endif
