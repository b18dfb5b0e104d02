/* glue/darknet.h: what a run sets in Darknet for the whole process. */
#ifndef DDP_GLUE_DARKNET_H
#define DDP_GLUE_DARKNET_H

#include "glue/network_size.h"
#include "glue/train_position.h"

typedef struct ddp_darknet_config {
    int fp32;               /* on GPUs: nothing narrower in any product */
    int bf16;               /* on GPUs: layers that can compute in bf16 */
    int deterministic;      /* on GPUs: only algorithms with the same bits each time */
    int any_threads;        /* on CPUs: products have the same bits with any number of threads */
    int allow_unknown_keys; /* of sections of a cfg: a warning, not an error */
    int weights_force;   /* load what fits of weights files that have more than the network takes */
    int labels_required; /* a picture of a detector without a label file is an error */
    int loader_threads;  /* 0: as many as each command likes */
    int verbose;         /* lines about less than a step are printed, too */
    /* Where training stands, and Darknet's line about the step, without its newline. NULL: Darknet
     * prints it. */
    void (*line)(const ddp_train_position *now, const char *line);
    /* A network was made from its cfg: its size, and Darknet's table of its layers. NULL: Darknet
     * prints that. */
    void (*table)(const ddp_network_size *size, const char *table);
    /* Darknet cannot go on: print the message and end the program. NULL: Darknet does so itself. */
    void (*fatal)(int exit_status, const char *message);
    /* The average of the weights cannot be saved: a sentence. NULL: that ends the program. */
    void (*average_unsaved)(const char *why);
    /* Weights are about to be written to path, by Darknet. NULL: nobody asks. */
    void (*saves)(const char *path);
} ddp_darknet_config;

/* Set all of it. Before any network is parsed. */
void ddp_darknet_configure(const ddp_darknet_config *config);

/* A value of a cfg's [net]. */
typedef struct ddp_net_value {
    const char *key, *value;
} ddp_net_value;

/* Cfgs that are parsed from now on have these in [net], in place of what they say. A NULL key ends
 * them; they stay as they are. At most DDP_NET_VALUES_MOST. */
enum { DDP_NET_VALUES_MOST = 32 };
void ddp_darknet_take_net_values(const ddp_net_value *values);

/* A path that begins with cfg/ or data/ and is not there, but is where the program was installed:
 * that one, never to be freed. Else path. */
const char *ddp_installed_path(const char *path);

#endif
