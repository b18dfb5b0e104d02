/* glue/cfg.h: by whose formulas a cfg is trained; its sections; its name. */
#ifndef DDP_GLUE_CFG_H
#define DDP_GLUE_CFG_H

#include "base/cfg_text.h"

/* Is it trained by the formulas of the later forks of Darknet? What is not read as a cfg is not. */
int ddp_cfg_of_forks(const ddp_cfg_text *cfg);

/* Do a detector's pictures keep their aspect? Those of YOLOv3's Darknet do, and with letter_box=1
 * those of the forks. */
int ddp_cfg_keeps_aspect(const ddp_cfg_text *cfg);

/* Has it a section of a type that Darknet does not know? */
int ddp_cfg_has_unknown_section(const ddp_cfg_text *cfg);

/* The name without folder and ending that Darknet gives to what it saves of the cfg at this path.
 * The caller frees it. */
char *ddp_cfg_base(const char *path);

#endif
