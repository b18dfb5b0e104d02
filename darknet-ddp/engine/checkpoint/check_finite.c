/* Weights files of Darknet: int32 major, minor, revision; images seen, of 8 bytes from version 0.2
 * on, of 4 before; floats. */
#include "base/is_finite.h"
#include "checkpoint/match.h"

#include <errno.h>
#include <stdio.h>

enum { BLOCK = 1 << 16, HEADER = 16, HEADER_2 = 20 };

static size_t header_of(const int32_t version[3])
{
    int64_t number = (int64_t)version[0] * 10 + version[1];

    return number >= 2 && version[0] < 1000 && version[1] < 1000 ? HEADER_2 : HEADER;
}

static ddp_status check(const char *path, FILE *fp, ddp_error *err)
{
    int32_t version[3];
    float block[BLOCK / sizeof(float)];
    size_t count;

    if (fread(version, sizeof version, 1, fp) == 1
        && fseek(fp, (long)header_of(version), SEEK_SET) == 0)
        while ((count = fread(block, sizeof *block, BLOCK / sizeof *block, fp)) > 0)
            if (!ddp_all_finite(block, count))
                return ddp_fail(err, DDP_ERR_FORMAT, "%s has a number that is not finite", path);
    if (ferror(fp))
        return ddp_fail(err, DDP_ERR_IO, "cannot read %s: %s", path, strerror(errno));
    return DDP_OK;
}

ddp_status ddp_match_finite(const char *weights, ddp_error *err)
{
    FILE *fp = fopen(weights, "rbe");
    ddp_status st;

    if (!fp)
        return ddp_fail(err, DDP_ERR_IO, "cannot read %s: %s", weights, strerror(errno));
    st = check(weights, fp, err);
    (void)fclose(fp);
    return st;
}
