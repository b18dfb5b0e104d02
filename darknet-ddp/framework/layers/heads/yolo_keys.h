#ifndef YOLO_KEYS_H
#define YOLO_KEYS_H

/* Keys of [yolo] by the later forks' formulas: name, and what holds without it. Each is read from
 * the cfg by that name (parse_yolo_rules in Darknet's parser.c), switches the whole network to
 * these formulas (cfg_keys.c), and is l.yolo.NAME. An OVERLAP is a measure of the overlap of two
 * boxes (iou.h), by its word; a REAL is a float, a WHOLE an int. */
#define YOLO_KEYS(OVERLAP, REAL, WHOLE)                                                            \
    /* the loss of a box; IOU_MSE: squared differences */                                          \
    OVERLAP(iou_loss, IOU_MSE)                                                                     \
    REAL(iou_normalizer, .75)                                                                      \
    REAL(cls_normalizer, 1)                                                                        \
    REAL(obj_normalizer, 1)                                                                        \
    /* factor of all deltas that the layer passes back */                                          \
    REAL(delta_normalizer, 1)                                                                      \
    /* limit of each part of a box's delta, but with IOU_MSE */                                    \
    REAL(max_delta, FLT_MAX)                                                                       \
    REAL(scale_x_y, 1)                                                                             \
    /* other anchors that overlap a truth by more are trained too; 1: none */                      \
    REAL(iou_thresh, 1)                                                                            \
    /* how they are compared with that */                                                          \
    OVERLAP(iou_thresh_kind, IOU_PLAIN)                                                            \
    /* the convolution before is logistic, sizes are 4x^2 anchors */                               \
    WHOLE(new_coords, 0)                                                                           \
    WHOLE(objectness_smooth, 0)                                                                    \
    REAL(label_smooth_eps, 0)                                                                      \
    WHOLE(focal_loss, 0)

#define OVERLAP_FIELD(name, otherwise) IOU_KIND name;
#define REAL_FIELD(name, otherwise) float name;
#define WHOLE_FIELD(name, otherwise) int name;
#define YOLO_KEY_NAME(name, otherwise) #name " "

#endif
