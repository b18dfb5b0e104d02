#include "samples/picture_loader.h"

#include "layers/catch_fatal.h"

struct reading {
    const char *path;
    image picture;
};

static void read_picture(void *ctx)
{
    struct reading *r = ctx;

    r->picture = load_image_color((char *)r->path, 0, 0);
}

/* If the picture cannot be read, what was loaded of it is not freed. */
int ddp_picture_read(image *out, const char *path, char why[DDP_PICTURE_WHY])
{
    struct reading r = {.path = path};

    why[0] = '\0';
    if (!catch_fatal(read_picture, &r, why, DDP_PICTURE_WHY))
        return 0;
    *out = r.picture;
    return 1;
}

static void *load(void *loader)
{
    ddp_picture_loader *l = loader;
    ddp_picture *p = &l->picture;

    train_loading(1, 1);
    if (ddp_picture_read(&p->whole, l->path, p->why))
        p->fitted = l->fit(l->net, p->whole);
    train_loading(0, 1);
    return NULL;
}

void ddp_picture_loader_begin(ddp_picture_loader *l, network *net, const char *path,
                              ddp_picture_fit fit)
{
    *l = (ddp_picture_loader){.net = net, .path = path, .fit = fit};
    if (pthread_create(&l->thread, NULL, load, l))
        error("Thread creation failed");
}

ddp_picture ddp_picture_loader_end(ddp_picture_loader *l)
{
    (void)pthread_join(l->thread, NULL);
    return l->picture;
}

void ddp_picture_release(ddp_picture *p)
{
    free_image(p->whole);
    free_image(p->fitted);
}
