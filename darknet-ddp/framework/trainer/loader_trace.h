/* trainer/loader_trace.h: records in a trace (core/trace.h) when threads load pictures. */
#ifndef DDP_TRAINER_LOADER_TRACE_H
#define DDP_TRAINER_LOADER_TRACE_H

#include "core/trace.h"

/* Set the trace into which loader threads write from now on; NULL: none. The trace must outlive
 * every load that begins before the next call. */
void ddp_loader_trace_use(ddp_trace *trace);

/* Note that the calling thread begins to load `count` pictures (begins: 1), or has loaded them (0).
 * Serves as train_plugin.loading of Darknet. */
void ddp_loader_trace_loading(int begins, int count);

#endif
