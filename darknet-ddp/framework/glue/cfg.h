/* glue/cfg.h: answers questions about a cfg from its text, without making the network. */
#ifndef DDP_GLUE_CFG_H
#define DDP_GLUE_CFG_H

#include "base/cfg_text.h"

/* Return 1 if the cfg has a section, key or value of Darknet's later forks, so that it is trained
 * by their formulas (cfg_keys.h); else 0. */
int ddp_cfg_of_forks(const ddp_cfg_text *cfg);

/* Return 1 if a detector with this cfg gets pictures that keep their aspect, 0 if they are
 * stretched. Cfgs of the forks stretch them unless [net] has letter_box=1; all others keep it. */
int ddp_cfg_keeps_aspect(const ddp_cfg_text *cfg);

/* Return 1 if the cfg has a section of a type that Darknet does not know. */
int ddp_cfg_has_unknown_section(const ddp_cfg_text *cfg);

/* Return the file name in path, without folders, up to its first dot. Names of files that Darknet
 * saves begin with it. The caller frees it. */
char *ddp_cfg_base(const char *path);

#endif
