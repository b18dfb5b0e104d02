/* launch/hostlist.h: the hosts that -ddp_hosts names; launch/reach.h has which of them answer. */
#ifndef DDP_LAUNCH_HOSTLIST_H
#define DDP_LAUNCH_HOSTLIST_H

#include "base/status.h"

#include <stddef.h>

enum { DDP_HOSTS_MAX = 1024 };

typedef struct ddp_host {
    char *name;      /* or address */
    int ranks;       /* to be started there */
    int unreachable; /* it did not answer */
} ddp_host;

typedef struct ddp_hosts {
    ddp_host *list;
    size_t count;
} ddp_hosts;

/* From "a,b:4", or from a file of that name with a line for each host: "a", "b:4" or "b slots=4",
 * # begins a comment. A host without a number gets `ranks`. Release *h in any case. Fails with
 * DDP_ERR_USAGE, DDP_ERR_NOMEM. */
ddp_status ddp_hosts_read(ddp_hosts *h, const char *text, int ranks, ddp_error *err) DDP_MUST_CHECK;
void ddp_hosts_release(ddp_hosts *h); /* all zero is allowed */

/* Has one a name with a domain, such as a.example? */
int ddp_hosts_have_domains(const ddp_hosts *h);

/* An IP address, and no name? */
int ddp_is_address(const char *name);

/* Is that a name or an address of this host? */
int ddp_is_this_host(const char *name);

/* Return 1 if a host that answers is not this one. */
int ddp_hosts_have_others(const ddp_hosts *h);

/* The network over which this host reaches the first other one that answers, as
 * "10.1.0.0/16" into network. 0: there is none, or its name cannot be resolved. */
int ddp_hosts_network(const ddp_hosts *h, char *network, size_t size);

/* Ranks of the hosts that answer. */
int ddp_hosts_ranks(const ddp_hosts *h);

/* Write "a:4,b:4" as mpirun's -H wants it: `ranks` of them in all, the first hosts full, without
 * hosts that do not answer. Free it; NULL without memory. */
char *ddp_hosts_argument(const ddp_hosts *h, int ranks);

#endif
