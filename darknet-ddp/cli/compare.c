#include "cli/compare.h"

#include "core/agree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static int is_cfg(const char *name)
{
    size_t length = strlen(name);

    return length > 4 && strcmp(name + length - 4, ".cfg") == 0;
}

/* 0 for a file that cannot be read: whoever needs it will say so. */
static unsigned long long hash_file(const char *name)
{
    FILE *file = fopen(name, "rb");
    XXH64_state_t *hash = XXH64_createState();
    char block[4096];
    size_t bytes;
    unsigned long long digest = 0;

    if (file && hash) {
        (void)XXH64_reset(hash, 0);
        while ((bytes = fread(block, 1, sizeof block, file)) > 0)
            (void)XXH64_update(hash, block, bytes);
        digest = XXH64_digest(hash);
    }
    (void)XXH64_freeState(hash);
    if (file)
        (void)fclose(file);
    return digest;
}

ddp_status ddp_compare_cfgs(ddp_group *group, char *const *arguments, ddp_error *err)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    ddp_status st;

    if (!out)
        return ddp_fail(err, DDP_ERR_NOMEM, "no memory to compare cfgs");
    for (int i = 0; arguments[i]; i++)
        if (is_cfg(arguments[i]))
            (void)fprintf(out, "contents of %s: hash %016llx\n", arguments[i],
                          hash_file(arguments[i]));
    if (fclose(out))
        st = ddp_fail(err, DDP_ERR_NOMEM, "no memory to compare cfgs");
    else
        st = ddp_agree(group, text, err);
    free(text);
    return st;
}
