"""A film without compression, for tests: an AVI file whose frames are read to the last bit."""
import struct


def chunk(kind, data):
    return kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def listed(kind, data):
    return chunk(b"LIST", kind + data)


def frame_of(width, height, pixel):
    """Rows from the bottom, blue first, padded to four bytes."""
    pad = b"\0" * (-3 * width % 4)
    return b"".join(b"".join(bytes(reversed(pixel(x, y))) for x in range(width)) + pad for y in reversed(range(height)))


def avi(path, width, height, pictures, rate=10):
    """pictures: for each frame a function, as that of darknet.png: pixel(x, y) is (red, green, blue)."""
    frames = [frame_of(width, height, pixel) for pixel in pictures]
    size = len(frames[0])
    main = struct.pack("<14I", 1000000 // rate, size * rate, 0, 0x10, len(frames), 0, 1, size, width, height, 0, 0, 0, 0)
    stream = struct.pack("<4s4sIHHIIIIIIIIhhhh", b"vids", b"DIB ", 0, 0, 0, 0, 1, rate, 0, len(frames), size, 0xffffffff, 0, 0, 0, width, height)
    bitmap = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, size, 0, 0, 0, 0)
    header = listed(b"hdrl", chunk(b"avih", main) + listed(b"strl", chunk(b"strh", stream) + chunk(b"strf", bitmap)))
    movie, index, place = b"", b"", 4
    for frame in frames:
        movie += chunk(b"00db", frame)
        index += struct.pack("<4sIII", b"00db", 0x10, place, size)
        place += 8 + size + size % 2
    with open(path, "wb") as f:
        f.write(chunk(b"RIFF", b"AVI " + header + listed(b"movi", movie) + chunk(b"idx1", index)))
