/* base/json.h: writes texts and numbers as JSON. */
#ifndef DDP_BASE_JSON_H
#define DDP_BASE_JSON_H

#include <stdio.h>

/* Write a UTF-8 text as a JSON string with its quotes; NULL is written as "". Control characters,
 * quotes and backslashes are escaped, and so is <, since the JSON may stand in a web page. */
void ddp_json_text(FILE *out, const char *text);

/* Write a number with 7 significant digits, or null if it is not finite. */
void ddp_json_number(FILE *out, double value);

#endif
