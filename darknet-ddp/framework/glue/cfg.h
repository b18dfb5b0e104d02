/* glue/cfg.h: a cfg with some of its [net] values replaced; by whose formulas it is trained; its
 * name. */
#ifndef DDP_GLUE_CFG_H
#define DDP_GLUE_CFG_H

#include "base/cfg_text.h"
#include "base/status.h"

#include <stddef.h>

typedef struct ddp_cfg_value {
    const char *key; /* of section [net]: "width", "batch", ... */
    int value;       /* 0: leave the cfg's */
} ddp_cfg_value;

enum { DDP_CFG_PATH_BYTES = 64 };

/* Copy the cfg at path, with values[0..count) in [net] instead of its own, to a
 * file in memory that parse_network_cfg can read under the name left in out
 * (at least DDP_CFG_PATH_BYTES bytes) until *fd is closed.
 * Fails with DDP_ERR_IO. */
ddp_status ddp_cfg_with(const char *path, const ddp_cfg_value *values, size_t count, char *out,
                        int *fd, ddp_error *err) DDP_MUST_CHECK;

/* Is it trained by the formulas of the later forks of Darknet? What is not read as a cfg is not. */
int ddp_cfg_of_forks(const ddp_cfg_text *cfg);

/* Has it a section of a type that Darknet does not know? */
int ddp_cfg_has_unknown_section(const ddp_cfg_text *cfg);

/* The name without folder and ending that Darknet gives to what it saves of the cfg at this path.
 * The caller frees it. */
char *ddp_cfg_base(const char *path);

#endif
