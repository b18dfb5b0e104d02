#include "layers/heads/iou.h"
#include "layers/heads/iou_formulas.h"
