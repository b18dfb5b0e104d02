/* Ends the program with exit status 1, after printing an error. */
#ifndef DDP_TESTS_GPU_MUST_H
#define DDP_TESTS_GPU_MUST_H

#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>

static void fail(const ddp_error *err) __attribute__((noreturn));

static void fail(const ddp_error *err)
{
    (void)fprintf(stderr, "%s\n", err->text);
    exit(1);
}

static void must(ddp_status st, const ddp_error *err)
{
    if (st)
        fail(err);
}

#endif
