/* base/json.h: values as JSON writes them. */
#ifndef DDP_BASE_JSON_H
#define DDP_BASE_JSON_H

#include <stdio.h>

/* A string with its quotes; NULL: "". text is UTF-8, and what else it may hold is escaped; so is
 * <, since the JSON may stand in a page. */
void ddp_json_text(FILE *out, const char *text);

/* A number of 7 digits, null where it is not finite. */
void ddp_json_number(FILE *out, double value);

#endif
