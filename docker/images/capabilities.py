# SPDX-License-Identifier: MIT
# Runs during the build of an image with Python: removes the capabilities (capabilities(7)) of
# files. A helper of GStreamer, a dependency of OpenCV's packages, has some. Images without Python
# have no such package; the probe checks all images.
import os

for folder, _, names in os.walk("/usr"):
    for path in (f"{folder}/{name}" for name in names):
        if not os.path.islink(path) and "security.capability" in os.listxattr(path):
            os.removexattr(path, "security.capability")
