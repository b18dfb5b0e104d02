/* trainer/loader_trace.h: what loader threads load, as spans of a trace (core/trace.h). */
#ifndef DDP_TRAINER_LOADER_TRACE_H
#define DDP_TRAINER_LOADER_TRACE_H

#include "core/trace.h"

/* From here on loader threads tell this trace of what they load; NULL: none. The trace must outlive
 * the threads. */
void ddp_loader_trace_use(ddp_trace *trace);

/* The calling thread begins to load so many pictures, or has loaded them: `loading` of Darknet's
 * train_plugin. A trace that began in between is told nothing of them. */
void ddp_loader_trace_loading(int begins, int count);

#endif
