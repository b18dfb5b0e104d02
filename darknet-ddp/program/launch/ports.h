/* launch/ports.h: draws TCP ports for mpirun and its daemons to listen at. */
#ifndef DDP_LAUNCH_PORTS_H
#define DDP_LAUNCH_PORTS_H

#include <stddef.h>

/* Draw four TCP ports from 46900 to 46999 at random, if possible ones that are free on this host.
 * Write them to out[0..size), with commas between. mpirun and its daemons try one after the other
 * until they find a free one. size: at least 24. */
void ddp_draw_ports(char *out, size_t size);

#endif
