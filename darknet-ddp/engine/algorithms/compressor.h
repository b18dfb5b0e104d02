/* algorithms/compressor.h: the algorithm of -ddp_compress, whatever compression its word names. It
 * keeps what compression leaves out of each weight matrix's gradient (its error), and calls the
 * compression (algorithms/compression.h) when buckets are summed. */
#ifndef DDP_ALGORITHMS_COMPRESSOR_H
#define DDP_ALGORITHMS_COMPRESSOR_H

#include "algorithms/algorithm.h"

/* The algorithm; it is on if -ddp_compress names a compression, and not only a type of floats. */
extern const ddp_algorithm ddp_algorithm_compressor;

/* Fail with DDP_ERR_USAGE, and say why, if o's compression refuses `ranks` ranks
 * (ddp_compression.check). Passes if o names no compression, or there is one rank. */
ddp_status ddp_compressor_check_ranks(const ddp_options *o, int ranks,
                                      ddp_error *err) DDP_MUST_CHECK;

/* Return 0 if this word of -ddp_compress names a compression that works only on CPUs; else 1. */
int ddp_compressor_on_gpus(ddp_compress_word word);

/* Return how much a rank sends for a trained parameter in one step, with o's compression on `ranks`
 * ranks: the number of floats whose all-reduce would send as many bytes. The parameter's run count
 * (core/bucket_plan.h), one float more, is left out. o must name a compression. */
size_t ddp_compressor_sends(const ddp_options *o, const ddp_param *param, int ranks);

#endif
