/* launch/hostlist.h: the hosts that -ddp_hosts names. launch/reach.h asks which answer. */
#ifndef DDP_LAUNCH_HOSTLIST_H
#define DDP_LAUNCH_HOSTLIST_H

#include "base/status.h"

#include <stddef.h>

enum { DDP_HOSTS_MAX = 1024 };

typedef struct ddp_host {
    char *name;      /* name or address of the host, as the user gave it */
    int ranks;       /* number of ranks to start on the host */
    int unreachable; /* 1: the host did not answer ddp_hosts_probe */
} ddp_host;

typedef struct ddp_hosts {
    ddp_host *list;
    size_t count;
} ddp_hosts;

/* Read hosts from text such as "a,b:4", or from a file of that name. The file has a line for each
 * host: "a", "b:4" or "b slots=4"; # begins a comment. A host without a number gets `ranks` ranks,
 * 1 to 4096. Fails with DDP_ERR_USAGE, DDP_ERR_NOMEM. Release *h also after a failure. */
ddp_status ddp_hosts_read(ddp_hosts *h, const char *text, int ranks, ddp_error *err) DDP_MUST_CHECK;
void ddp_hosts_release(ddp_hosts *h); /* frees the list; all zero is allowed */

/* Return 1 if any host is given by a name with a domain, such as a.example. */
int ddp_hosts_have_domains(const ddp_hosts *h);

/* Return 1 if the text is an IP address. */
int ddp_is_address(const char *name);

/* Return 1 if the text is this host's name, an IPv4 address of this host, or localhost. */
int ddp_is_this_host(const char *name);

/* Return 1 if any host that answers is not this one. */
int ddp_hosts_have_others(const ddp_hosts *h);

/* Write to network[0..size) the IPv4 network over which this host reaches the first other host that
 * answers, such as "10.1.0.0/16", and return 1. Returns 0 if there is none, or its name is unknown.
 */
int ddp_hosts_network(const ddp_hosts *h, char *network, size_t size);

/* Return how many ranks the hosts that answer have together. */
int ddp_hosts_ranks(const ddp_hosts *h);

/* Return "a:4,b:4" for mpirun's -H: `ranks` ranks in all, the first hosts full, without hosts that
 * do not answer. The caller frees it. NULL: no memory. */
char *ddp_hosts_argument(const ddp_hosts *h, int ranks);

#endif
