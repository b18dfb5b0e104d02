/* trainer/loader_trace.h: notes in a trace (core/trace.h) when loader threads load pictures. */
#ifndef DDP_TRAINER_LOADER_TRACE_H
#define DDP_TRAINER_LOADER_TRACE_H

#include "core/trace.h"

/* Set the trace in which loader threads note what they load from now on; NULL: none. The trace must
 * outlive every load that begins before another trace is set. */
void ddp_loader_trace_use(ddp_trace *trace);

/* Note that the calling thread begins to load `count` pictures (begins is 1), or has loaded them
 * (0), in the trace that was set when loading began. Serves as train_plugin.loading of Darknet. */
void ddp_loader_trace_loading(int begins, int count);

#endif
