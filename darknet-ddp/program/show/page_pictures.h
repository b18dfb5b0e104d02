/* show/page_pictures.h: what the page shows of the last validation of a detector: which class is
 * taken for which, and some pictures with what was found in them and what is there. On rank 0. */
#ifndef DDP_SHOW_PAGE_PICTURES_H
#define DDP_SHOW_PAGE_PICTURES_H

#include "monitor/page.h"
#include "validate/schedule.h"

typedef struct ddp_page_pictures ddp_page_pictures;

/* *out is NULL where v validates no detector. v must outlive it. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_page_pictures_open(ddp_page_pictures **out, const ddp_validation *v,
                                  ddp_error *err) DDP_MUST_CHECK;
void ddp_page_pictures_close(ddp_page_pictures *views); /* NULL is allowed */

/* A listener of ddp_validation_measure; ctx: the views, or NULL. */
void ddp_page_pictures_take(void *ctx, const ddp_detection *found, size_t count,
                            const ddp_truth *truths, size_t truth_count);

/* Let page show them; it points into views. NULL is allowed. */
void ddp_page_pictures_show(const ddp_page_pictures *views, ddp_page *page);

#endif
