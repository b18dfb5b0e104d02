/* saves/earlier_run.h: moves the files of an earlier run of the same name out of a new run's way,
 * and back (checkpoint/set_aside.h). On rank 0, which owns the name. Each function prints what
 * it did. */
#ifndef DDP_SAVES_EARLIER_RUN_H
#define DDP_SAVES_EARLIER_RUN_H

#include "base/status.h"
#include "checkpoint/find.h"
#include "state/checkpoint.h"

/* Put together the files of a move during which a run was killed. Call when the name is owned,
 * before its files are read. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_earlier_run_recover(const char *directory, const char *base,
                                   ddp_error *err) DDP_MUST_CHECK;

/* Set the files of an earlier run aside, for a run that begins anew. earlier: the newest pair of
 * that run; if it has none, earlier->weights is NULL. The new run begins with first_weights, which
 * stays in its place, too; NULL: none. Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_earlier_run_set_aside(const char *directory, const char *base,
                                     const ddp_pair_header *earlier, const char *first_weights,
                                     ddp_error *err) DDP_MUST_CHECK;

/* Call if no weights are in directory. Do what the START row (checkpoint/find.h) says of the folder
 * that was set aside last. With run->force, do what the row says for -resume_force. *came is 1 if
 * files came back, else 0. A line says if a run that has come to its end stays aside.
 * DDP_ERR_USAGE: a run trains in that folder. Fails with DDP_ERR_MISMATCH, with nothing moved, if
 * ddp_checkpoint_check_resume does. Fails also with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_earlier_run_bring_back(int *came, const char *directory,
                                      const ddp_checkpoint_run *run, ddp_error *err) DDP_MUST_CHECK;

/* Give a second name to the last weights of a run that had come to its end, before a run that goes
 * on writes over them. BASE_final.weights and BASE.weights with their states also become
 * BASE_final_<batches>.weights. Their average (ema_alpha) becomes BASE_ema_<batches>.weights. Other
 * weights of such a name are kept (saves/displaced.h). Fails with DDP_ERR_IO, DDP_ERR_NOMEM. */
ddp_status ddp_earlier_run_keep_final(const char *directory, const char *base,
                                      ddp_error *err) DDP_MUST_CHECK;

#endif
