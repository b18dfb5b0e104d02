/* algorithms/compressor.h: the algorithm that runs the compression that -ddp_compress asks for
 * (algorithms/compression.h): it lists the matrices, keeps their errors, and plugs into sums. */
#ifndef DDP_ALGORITHMS_COMPRESSOR_H
#define DDP_ALGORITHMS_COMPRESSOR_H

#include "algorithms/algorithm.h"

extern const ddp_algorithm ddp_algorithm_compressor;

/* Fail with DDP_ERR_USAGE, and say why, if the compression does not pay on so many ranks. */
ddp_status ddp_compressor_check_ranks(const ddp_options *o, int ranks,
                                      ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if a run on GPUs may have this word. */
int ddp_compressor_on_gpus(ddp_compress_word word);

/* Return the length of a plain sum that sends as many bytes as one step sends of a parameter on so
 * many ranks, without run counts. */
size_t ddp_compressor_sends(const ddp_options *o, const ddp_param *param, int ranks);

#endif
