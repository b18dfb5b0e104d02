/* A small checkpoint whose every part depends on one number, so that parts of two are never taken
 * for one. */
#ifndef DDP_TESTS_UNIT_TOY_CHECKPOINT_H
#define DDP_TESTS_UNIT_TOY_CHECKPOINT_H

#include "checkpoint/pair.h"

enum { TOY_ARRAYS = 3, TOY_FLOATS = 5 };

struct toy_checkpoint {
    ddp_checkpoint checkpoint;
    ddp_checkpoint_array arrays[TOY_ARRAYS];
    float data[TOY_ARRAYS][TOY_FLOATS];
    char cfg[64];
    int number;
};

/* Make the checkpoint. number, from 0, is the step, too. */
void toy_checkpoint_make(struct toy_checkpoint *t, const char *base, int number);

/* Make the checkpoint of that number, and save it as the pair of path. */
ddp_status toy_checkpoint_save(const char *path, const char *base, int number, ddp_error *err);

/* Make the checkpoint of that number, and do the first half of its save (ddp_pair_write). */
ddp_status toy_checkpoint_write(ddp_pair_writing **out, const char *path, const char *base,
                                int number, ddp_error *err);

/* Fail unless c is the checkpoint of that number. */
void toy_checkpoint_expect(const ddp_checkpoint *c, const char *base, int number);

/* Fail unless the weights file is the one of that number. */
void toy_checkpoint_expect_weights(const char *path, int number);

#endif
