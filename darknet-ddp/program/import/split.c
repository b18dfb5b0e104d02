#include "import/split.h"

#include "import/folder.h"

#include <string.h>
#include <xxhash.h>

static const double usual_percent = 10;

/* A number from 0 to 1 that depends on the file's name without its ending. */
static double draw(const char *path)
{
    const char *last = ddp_folder_last(path), *dot = strrchr(last, '.');
    size_t length = dot && dot > last ? (size_t)(dot - last) : strlen(last);

    return (double)(XXH64(last, length, 0) >> 11) / (double)(1ULL << 53);
}

static int has_both(const ddp_annotations *a)
{
    int has[DDP_SIDE_TEST + 1] = {0};

    for (size_t i = 0; i < a->picture_count; i++)
        if (a->pictures[i].path)
            has[a->pictures[i].side] = 1;
    return has[DDP_SIDE_TRAIN] && has[DDP_SIDE_VALID];
}

void ddp_split(ddp_annotations *a, double percent)
{
    int stays = percent < 0 && has_both(a);
    double share = (percent < 0 ? usual_percent : percent) / 100, lowest = 2;
    ddp_annotated_picture *first = NULL;
    size_t count = 0, valid = 0;

    for (size_t i = 0; i < a->picture_count; i++) {
        ddp_annotated_picture *p = &a->pictures[i];
        double drawn;

        if (!p->path || (stays && p->side != DDP_SIDE_UNKNOWN))
            continue;
        drawn = draw(p->path);
        p->side = !stays && drawn < share ? DDP_SIDE_VALID : DDP_SIDE_TRAIN;
        valid += p->side == DDP_SIDE_VALID;
        count++;
        if (drawn < lowest) {
            lowest = drawn;
            first = p;
        }
    }
    if (!stays && share > 0 && valid == 0 && count > 1)
        first->side = DDP_SIDE_VALID;
}
