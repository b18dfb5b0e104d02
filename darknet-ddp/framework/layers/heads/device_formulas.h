/* layers/heads/device_formulas.h: makes the functions of *_formulas.h device functions. A .cu file
 * includes it before any of them (formulas.h). Headers declare some of these functions for the
 * host. So this file includes those headers first, then renames those functions device_NAME. */
#ifndef DEVICE_FORMULAS_H
#define DEVICE_FORMULAS_H

extern "C" {
#include "box.h"
#include "darknet.h"
#include "layers/heads/iou.h"
#include "layers/heads/yolo_v4.h"
#include "utils.h"
}

#define DEVICE_FORMULAS
#define is_finite device_is_finite
#define constrain device_constrain
#define int_index device_int_index
#define float_to_box device_float_to_box
#define box_iou device_box_iou
#define box_rmse device_box_rmse
#define box_less_distance device_box_less_distance
#define box_iou_kind device_box_iou_kind
#define iou_gradient device_iou_gradient
#define yolo_v4_box device_yolo_v4_box

#include "layers/heads/box_formulas.h"
#include "layers/heads/number_formulas.h"

#endif
