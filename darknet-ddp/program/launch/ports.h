/* launch/ports.h: draws TCP ports for mpirun and its daemons to listen at. */
#ifndef DDP_LAUNCH_PORTS_H
#define DDP_LAUNCH_PORTS_H

#include <stddef.h>

/* Draw four TCP ports from 46900 to 46999 at random, and write them to out[0..size), at least 24
 * bytes, with commas between. Ports that are free on this host are preferred. mpirun and its
 * daemons listen at one that no other process has: four are enough for several jobs. */
void ddp_draw_ports(char *out, size_t size);

#endif
