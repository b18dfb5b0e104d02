/* saves/earlier_run.h: moves what an earlier run of the same name has left out of the way of a new
 * run, and back (checkpoint/set_aside.h). On rank 0, which owns the name; each function says what
 * it did. */
#ifndef DDP_SAVES_EARLIER_RUN_H
#define DDP_SAVES_EARLIER_RUN_H

#include "base/status.h"
#include "checkpoint/find.h"
#include "state/checkpoint.h"

/* Whoever owns the name, before it reads: a run may have been ended while it moved files. Fails as
 * ddp_set_aside_recover. */
ddp_status ddp_earlier_run_recover(const char *directory, const char *base,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Set the files of an earlier run aside, for a run that begins anew. earlier: its newest pair, or
 * weights NULL. first_weights: the file that the new run begins with, which stays in its place,
 * too; NULL: none. Fails as ddp_set_aside. */
ddp_status ddp_earlier_run_set_aside(const char *directory, const char *base,
                                     const ddp_pair_header *earlier, const char *first_weights,
                                     ddp_error *err) DDP_MUST_CHECK;

/* Where no weights are in directory: do what the START row (checkpoint/find.h) of the folder that
 * was set aside last says, with -resume_force if run->force. *came is 1 if files came back. A line
 * says if a run that has come to its end stays aside. DDP_ERR_USAGE: a run trains in that folder.
 * Fails also as ddp_checkpoint_check_resume, and then nothing was moved, and as
 * ddp_set_aside_undo. */
ddp_status ddp_earlier_run_bring_back(int *came, const char *directory,
                                      const ddp_checkpoint_run *run, ddp_error *err) DDP_MUST_CHECK;

/* On rank 0, where a run goes on: weights of one that had come to its end, BASE_final.weights and
 * BASE.weights with their states, also get the name BASE_final_<batches>.weights, and a line says
 * so; the average of them (ema_alpha) gets BASE_ema_<batches>.weights; other weights that have this
 * name are kept (saves/displaced.h): the run will write over them. Fails with DDP_ERR_IO,
 * DDP_ERR_NOMEM. */
ddp_status ddp_earlier_run_keep_final(const char *directory, const char *base,
                                      ddp_error *err) DDP_MUST_CHECK;

#endif
