/* algorithms/compressor.h: the algorithm behind -ddp_compress. It lists the matrices, keeps their
 * errors, and calls the compression (algorithms/compression.h) when buckets are summed. */
#ifndef DDP_ALGORITHMS_COMPRESSOR_H
#define DDP_ALGORITHMS_COMPRESSOR_H

#include "algorithms/algorithm.h"

/* The algorithm that is on if -ddp_compress names a compression. */
extern const ddp_algorithm ddp_algorithm_compressor;

/* Fail with DDP_ERR_USAGE, and say why, if the compression that o asks for does not pay on `ranks`
 * ranks. Passes if there is none, or one rank. */
ddp_status ddp_compressor_check_ranks(const ddp_options *o, int ranks,
                                      ddp_error *err) DDP_MUST_CHECK;

/* Return 1 if this word of -ddp_compress may be used on GPUs. */
int ddp_compressor_on_gpus(ddp_compress_word word);

/* Return how many floats one step sends of a parameter, with o's compression on `ranks` ranks: the
 * length of a plain sum that sends as many bytes. Run counts are left out. o must name a
 * compression. */
size_t ddp_compressor_sends(const ddp_options *o, const ddp_param *param, int ranks);

#endif
