/* glue/cfg.h: questions about the text of a cfg, by Darknet's tables of its sections and keys. */
#ifndef DDP_GLUE_CFG_H
#define DDP_GLUE_CFG_H

#include "base/cfg_text.h"

/* Return 1 if the cfg is trained by the formulas of Darknet's later forks (cfg_keys.h), else 0; 0
 * also for a text that is no cfg. */
int ddp_cfg_of_forks(const ddp_cfg_text *cfg);

/* Return 1 if a detector with this cfg gets pictures that keep their aspect. That is so with the
 * formulas of YOLOv3's Darknet, and with letter_box=1 in [net] with those of the forks. */
int ddp_cfg_keeps_aspect(const ddp_cfg_text *cfg);

/* Return 1 if the cfg has a section of a type that Darknet does not know. */
int ddp_cfg_has_unknown_section(const ddp_cfg_text *cfg);

/* Return the name of the cfg at path, without folder, up to its first dot. The names of files that
 * Darknet saves begin with it. The caller frees it. */
char *ddp_cfg_base(const char *path);

#endif
