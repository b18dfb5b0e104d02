#include "samples/picture_loader.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

/* The place where the calling thread goes on if a picture cannot be read, and where it writes
 * why. */
static _Thread_local jmp_buf given_up;
static _Thread_local char *reason;

static void give_up(const char *message)
{
    fatal_in_thread = NULL;
    (void)snprintf(reason, DDP_PICTURE_WHY, "%s", message);
    longjmp(given_up, 1);
}

/* If the picture cannot be read, what was loaded of it is not freed. */
int ddp_picture_read(image *out, const char *path, char why[DDP_PICTURE_WHY])
{
    why[0] = '\0';
    reason = why;
    if (setjmp(given_up))
        return 0;
    fatal_in_thread = give_up;
    *out = load_image_color((char *)path, 0, 0);
    fatal_in_thread = NULL;
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
