/* glue/darknet.h: settings of Darknet that hold for the whole process. */
#ifndef DDP_GLUE_DARKNET_H
#define DDP_GLUE_DARKNET_H

#include "glue/network_size.h"
#include "glue/train_position.h"

typedef struct ddp_darknet_config {
    int fp32;               /* 1: on GPUs products compute in float32, not in TF32 */
    int deterministic;      /* 1: on GPUs only algorithms with the same bits each time */
    int any_threads;        /* 1: on CPUs products have the same bits with any number of threads */
    int allow_unknown_keys; /* 1: unknown keys of a cfg are a warning, no error */
    int weights_force; /* 1: load weights files that are too long or too short, as far as they go */
    int labels_required; /* 1: a detector's picture without a label file is an error */
    int loader_threads;  /* threads that load pictures; 0: as many as each command chooses */
    int verbose;         /* 1: lines about a mini-batch, a load or a size are printed, too */
    /* Take the line that Darknet would print about a step, without its newline, and where training
     * stands. NULL: Darknet prints the line. */
    void (*line)(const ddp_train_position *now, const char *line);
    /* Take the size and Darknet's table of layers of a network that was just made from its cfg.
     * NULL: Darknet prints the table. */
    void (*table)(const ddp_network_size *size, const char *table);
    /* Print the message with which Darknet gives up, and end the program: must not return. NULL:
     * the function that was set before stays, at first Darknet's own. */
    void (*fatal)(int exit_status, const char *message);
    /* Take a sentence on why the weights' average cannot be saved. NULL: the program ends. */
    void (*average_unsaved)(const char *why);
    /* Called before Darknet writes weights to path. NULL: not called. */
    void (*saves)(const char *path);
} ddp_darknet_config;

/* Apply config to the whole process. Call before any network is parsed. */
void ddp_darknet_configure(const ddp_darknet_config *config);

/* A value of a cfg's [net]. */
typedef struct ddp_net_value {
    const char *key, *value;
} ddp_net_value;

enum { DDP_NET_VALUES_MOST = 32 };

/* Put values into [net] of every cfg that is parsed later, in place of the cfg's own and of those
 * of an earlier call. At most DDP_NET_VALUES_MOST, ended by one with a NULL key. The array is
 * copied; its strings must stay valid. */
void ddp_darknet_take_net_values(const ddp_net_value *values);

/* Return the installed file if path begins with cfg/ or data/, is not there, and was installed with
 * the program; else path. Never free the result. */
const char *ddp_installed_path(const char *path);

#endif
