/* launch/ports.h: TCP ports that mpirun and its daemons listen on. */
#ifndef DDP_LAUNCH_PORTS_H
#define DDP_LAUNCH_PORTS_H

#include <stddef.h>

/* Four ports of 46900 to 46999, which are free on this host if any are, with commas between them.
 * mpirun and its daemons listen on each that they are given, but for those that others have: four,
 * drawn for the job, so that of jobs side by side each has one. size: at least 24. */
void ddp_draw_ports(char *out, size_t size);

#endif
