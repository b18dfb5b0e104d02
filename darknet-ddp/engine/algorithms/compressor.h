/* algorithms/compressor.h: the algorithm that runs the compression that -ddp_compress asks for
 * (algorithms/compression.h): it lists the matrices, keeps their errors, and plugs into sums. */
#ifndef DDP_ALGORITHMS_COMPRESSOR_H
#define DDP_ALGORITHMS_COMPRESSOR_H

#include "algorithms/algorithm.h"

extern const ddp_algorithm ddp_algorithm_compressor;

/* Does the compression, if any, pay on so many ranks? DDP_ERR_USAGE: why not. */
ddp_status ddp_compressor_check_ranks(const ddp_options *o, int ranks,
                                      ddp_error *err) DDP_MUST_CHECK;

/* May a run on GPUs have this word? */
int ddp_compressor_on_gpus(ddp_compress_word word);

/* The length of a sum that sends as much as is sent of a parameter in a step on so many ranks, run
 * counts not counted. */
size_t ddp_compressor_sends(const ddp_options *o, const ddp_param *param, int ranks);

#endif
