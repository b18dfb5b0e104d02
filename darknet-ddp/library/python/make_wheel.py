#!/usr/bin/env python3
"""Make a wheel, which pip installs, of the library and its Python. Usage: make_wheel.py VERSION LIBRARY MODULE FOLDER"""
import base64
import hashlib
import os
import sys
import sysconfig
import zipfile

METADATA = """Metadata-Version: 2.1
Name: darknet-ddp
Version: {version}
Summary: Darknet's neural networks: boxes and classes of pictures
License: MIT
Requires-Python: >=3.8
Requires-Dist: numpy
"""
WHEEL = """Wheel-Version: 1.0
Generator: darknet-ddp
Root-Is-Purelib: false
Tag: {tag}
"""


def main():
    version, library, module, folder = sys.argv[1:]
    tag = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
    info = f"darknet_ddp-{version}.dist-info"
    contents = {f"{info}/METADATA": METADATA.format(version=version).encode(), f"{info}/WHEEL": WHEEL.format(tag=tag).encode()}
    for name, path in (("darknet_ddp.py", module), ("libdarknet-ddp.so", library)):
        with open(path, "rb") as f:
            contents[name] = f.read()
    record = [f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}" for name, data in contents.items()]
    contents[f"{info}/RECORD"] = "".join(line + "\n" for line in (*record, f"{info}/RECORD,,")).encode()
    path = os.path.join(folder, f"darknet_ddp-{version}-{tag}.whl")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in contents.items():
            wheel.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data)
    print(path)


if __name__ == "__main__":
    main()
