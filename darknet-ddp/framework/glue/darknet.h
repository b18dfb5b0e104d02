/* glue/darknet.h: sets Darknet's options and handlers, which hold for the whole process. */
#ifndef DDP_GLUE_DARKNET_H
#define DDP_GLUE_DARKNET_H

#include "glue/network_size.h"
#include "glue/train_position.h"

typedef struct ddp_darknet_config {
    int fp32;          /* 1: GPUs multiply matrices in float32, not in TF32 */
    int deterministic; /* 1: GPUs use only algorithms that give the same bits each time */
    int any_threads;   /* 1: CPUs multiply matrices to the same bits with any number of threads */
    int allow_unknown_keys; /* 1: print a warning for an unknown key of a cfg; 0: end the program */
    int weights_force;      /* 1: load weights files of a wrong length until file or net ends */
    int labels_required;    /* 1: a detector's picture without a label file is an error */
    int loader_threads;     /* threads that load pictures; 0: each command's own number */
    int verbose;            /* 1: also print lines about each mini-batch, load and new size */
    /* Take Darknet's line about a step, without newline, on each rank. NULL: rank 0 prints it. */
    void (*line)(const ddp_train_position *now, const char *line);
    /* Print the table of layers of a network that was just made. NULL: Darknet prints it. */
    void (*table)(const ddp_network_size *size, const char *table);
    /* Print Darknet's error and end the program; must not return. NULL: keep the handler that was
     * set before, at first Darknet's own. */
    void (*fatal)(int exit_status, const char *message);
    /* Print why the weights' average (ema_alpha=) cannot be saved. NULL: the program ends. */
    void (*average_unsaved)(const char *why);
    /* Called before Darknet itself, not a trainer, writes weights to path. NULL: not called. */
    void (*saves)(const char *path);
} ddp_darknet_config;

/* Apply config to the whole process. Call before any network is parsed. */
void ddp_darknet_configure(const ddp_darknet_config *config);

typedef struct ddp_net_value {
    const char *key, *value;
} ddp_net_value;

enum { DDP_NET_VALUES_MOST = 32 };

/* Set values of section [net] that replace the cfg's in all networks parsed from now on. Values of
 * an earlier call no longer count. The array has at most DDP_NET_VALUES_MOST values, then a NULL
 * key. It is copied; its strings must stay valid. */
void ddp_darknet_set_net_values(const ddp_net_value *values);

/* Return path if the file is there, or is nowhere. If path begins with cfg/ or data/, and the file
 * is only where the program was installed, return that place. path NULL: return NULL. The caller
 * must not free the result, which is valid as long as path. */
const char *ddp_installed_path(const char *path);

#endif
