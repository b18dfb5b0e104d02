/* show/page_pictures.h: views of a detector's last validation for the page NAME.html: the confusion
 * matrix of classes, and some pictures with their labels and the boxes that were found. On rank
 * 0. */
#ifndef DDP_SHOW_PAGE_PICTURES_H
#define DDP_SHOW_PAGE_PICTURES_H

#include "monitor/page.h"
#include "validate/schedule.h"

typedef struct ddp_page_pictures ddp_page_pictures;

/* Open the views, and choose the pictures of v's list to show. *out is NULL if v is NULL, or
 * validates no detector. v must outlive *out. Fails with DDP_ERR_NOMEM. */
ddp_status ddp_page_pictures_open(ddp_page_pictures **out, const ddp_validation *v,
                                  ddp_error *err) DDP_MUST_CHECK;
void ddp_page_pictures_close(ddp_page_pictures *views); /* frees views; NULL is allowed */

/* Draw the views from the detections and truths of a validation; nothing in these is needed later.
 * It is a listener for ddp_validation_measure. ctx: the views; NULL: do nothing. */
void ddp_page_pictures_take(void *ctx, const ddp_detection *found, size_t count,
                            const ddp_truth *truths, size_t truth_count);

/* Add the views to *page, which then points into them. Adds nothing if views is NULL, or before the
 * first validation. */
void ddp_page_pictures_show(const ddp_page_pictures *views, ddp_page *page);

#endif
