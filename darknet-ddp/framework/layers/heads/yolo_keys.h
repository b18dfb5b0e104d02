/* layers/heads/yolo_keys.h: most cfg keys of [yolo] that later forks of Darknet added. A row has
 * the key's name and its default. An OVERLAP is an IOU_KIND (iou.h), a REAL a float, a WHOLE an
 * int. Darknet's parser reads the key into l.yolo.NAME (parse_yolo_rules). A cfg with one of these
 * keys is trained by the forks' formulas (yolo_v4_formulas.h). */
#ifndef YOLO_KEYS_H
#define YOLO_KEYS_H

#define YOLO_KEYS(OVERLAP, REAL, WHOLE)                                                            \
    /* the loss of a box; IOU_MSE: squared differences */                                          \
    OVERLAP(iou_loss, IOU_MSE)                                                                     \
    /* factors of deltas: of a box, of the true class (with counters_per_class), of objectness */  \
    REAL(iou_normalizer, .75)                                                                      \
    REAL(cls_normalizer, 1)                                                                        \
    REAL(obj_normalizer, 1)                                                                        \
    /* factor of all deltas that the layer passes back */                                          \
    REAL(delta_normalizer, 1)                                                                      \
    /* largest absolute value of each delta of a box; not with IOU_MSE */                          \
    REAL(max_delta, FLT_MAX)                                                                       \
    REAL(scale_x_y, 1)                                                                             \
    /* also train other anchors that overlap a truth by more than this; 1: none */                 \
    REAL(iou_thresh, 1)                                                                            \
    /* the measure of overlap that is compared with iou_thresh */                                  \
    OVERLAP(iou_thresh_kind, IOU_PLAIN)                                                            \
    /* 1: the convolution before is logistic; sizes are 4x^2 anchors */                            \
    WHOLE(new_coords, 0)                                                                           \
    WHOLE(objectness_smooth, 0)                                                                    \
    REAL(label_smooth_eps, 0)                                                                      \
    WHOLE(focal_loss, 0)

#define OVERLAP_FIELD(name, otherwise) IOU_KIND name;
#define REAL_FIELD(name, otherwise) float name;
#define WHOLE_FIELD(name, otherwise) int name;
#define YOLO_KEY_NAME(name, otherwise) #name " "

#endif
