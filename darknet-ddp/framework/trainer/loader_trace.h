/* trainer/loader_trace.h: what loader threads load, as spans of a trace (core/trace.h). */
#ifndef DDP_TRAINER_LOADER_TRACE_H
#define DDP_TRAINER_LOADER_TRACE_H

#include "core/trace.h"

/* Have loader threads note in this trace what they load; NULL: in none. The trace must outlive the
 * threads. */
void ddp_loader_trace_use(ddp_trace *trace);

/* Note that the calling thread begins to load so many pictures (1), or has loaded them (0):
 * `loading` of Darknet's train_plugin. A trace that began in between gets no note. */
void ddp_loader_trace_loading(int begins, int count);

#endif
