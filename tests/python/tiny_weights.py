"""Weights that are drawn, or written by hand, for darknet.detector_cfg(): tests of predictions need no training."""
import random
import struct

PATH = "backup/tiny_final.weights"
LAST = 7 + 7 * 4  # biases and weights of its last convolution


def normalized(draw, channels):
    """Numbers of a convolution of 4 filters of 3x3 with BatchNorm: biases, scales, means, variances, weights."""
    return [draw.gauss(0, 1) for _ in range(12)] + [draw.uniform(0.5, 1.5) for _ in range(4)] + [draw.gauss(0, 0.5) for _ in range(36 * channels)]


def drawn():
    draw = random.Random(5)
    return normalized(draw, 3) + normalized(draw, 4) + [draw.gauss(0, 1) for _ in range(LAST)]


def write(path, values):
    with open(path, "wb") as f:
        f.write(struct.pack(f"<3iQ{len(values)}f", 0, 2, 0, 0, *values))
