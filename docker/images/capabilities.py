# SPDX-License-Identifier: MIT
# Runs in an image with Python when it is built: no file has capabilities (capabilities(7)), as a helper of GStreamer has, which packages of
# OpenCV bring. Images without Python have no such package; the probe looks at all.
import os

for folder, _, names in os.walk("/usr"):
    for path in (f"{folder}/{name}" for name in names):
        if not os.path.islink(path) and "security.capability" in os.listxattr(path):
            os.removexattr(path, "security.capability")
