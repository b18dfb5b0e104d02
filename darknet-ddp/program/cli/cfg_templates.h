/* cli/cfg_templates.h: writes cfgs of well-known detectors, for any number of classes. */
#ifndef DDP_CLI_CFG_TEMPLATES_H
#define DDP_CLI_CFG_TEMPLATES_H

#include <stdio.h>

/* Names that ddp_template_write knows, separated by commas. */
extern const char ddp_template_names[];

/* Write the cfg of this name, for `classes` classes, to out, and return 1. Returns 0, with nothing
 * written, if ddp_template_names does not have the name. */
int ddp_template_write(FILE *out, const char *name, int classes);

#endif
