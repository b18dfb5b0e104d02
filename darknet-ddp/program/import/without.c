/* Stands in for the readers of annotations whose library this program was built without: each
 * fails, and says what to install. */
#include "import/readers.h"

#define WITHOUT(READER, library, reads, package)                                                   \
    ddp_status READER(ddp_annotations *a, const ddp_import_source *source, ddp_error *err)         \
    {                                                                                              \
        (void)a;                                                                                   \
        (void)source;                                                                              \
        return ddp_fail(err, DDP_ERR_USAGE,                                                        \
                        "this program was built without " library ", which reads " reads           \
                        ": install " package ", and build it anew");                               \
    }

#ifndef DDP_JANSSON
WITHOUT(ddp_coco_read, "jansson", "COCO's JSON", "libjansson-dev")
#endif
#ifndef DDP_EXPAT
WITHOUT(ddp_voc_read, "expat", "Pascal VOC's XML", "libexpat1-dev")
#endif
#ifndef DDP_YAML
WITHOUT(ddp_yolo_read, "libyaml", "data.yaml", "libyaml-dev")
#endif
