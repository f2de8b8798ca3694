# SPDX-License-Identifier: MIT
# Runs during the build of an image with Python: merges the parts of the emoji font in
# /codebox/build to one font, and writes matplotlib's list of fonts. For characters that a font
# lacks, matplotlib uses the fonts of docker/inside/kernels/python_libraries.py (FALLBACK_FONTS).
import dataclasses
import glob
import os

from fontTools import merge
from fontTools.ttLib import TTFont

EMOJI, PARTS = "/usr/share/fonts/truetype/noto/NotoEmoji-Regular.ttf", "/codebox/build/*.woff"
KEPT = {"cmap", "glyf", "loca", "head", "hhea", "hmtx", "maxp", "name", "post", "OS/2", "GlyphOrder"}


def make_emoji():
    """Merges the parts, which are of one family and have disjoint characters. Drops the tables that only
    shape text: matplotlib does not read them."""
    names = []
    for number, part in enumerate(sorted(glob.glob(PARTS))):
        font = TTFont(part)
        for table in set(font.keys()) - KEPT:
            del font[table]
        font.flavor = None
        names.append(f"/tmp/emoji-{number}.ttf")
        font.save(names[-1])
    font = merge.Merger().merge(names)
    for record in font["name"].names:
        if record.nameID in (1, 4, 16):
            record.string = "Noto Emoji"
    os.makedirs(os.path.dirname(EMOJI), exist_ok=True)
    font.save(EMOJI)
    for name in names:
        os.remove(name)


make_emoji()
os.environ["MPLCONFIGDIR"] = "/codebox/matplotlib"
import matplotlib.font_manager

# Fonts of other systems that programs name, by the installed font that replaces them: the
# replacement has the same characters, in other shapes.
NAMES = {
    "WenQuanYi Zen Hei": "SimHei|SimSun|Microsoft YaHei|PingFang SC|Noto Sans CJK SC|Noto Sans CJK JP|Noto Sans CJK KR|Source Han Sans SC|Hiragino Sans|"
    "MS Gothic|Yu Gothic|Meiryo|IPAexGothic|Malgun Gothic|NanumGothic|AppleGothic|Arial Unicode MS",
    "Liberation Sans": "Arial|Helvetica",
    "Liberation Serif": "Times New Roman|Times",
    "Liberation Mono": "Courier New|Courier|Consolas",
    "Noto Emoji": "Noto Color Emoji|Segoe UI Emoji|Apple Color Emoji|Symbola",
}
manager = matplotlib.font_manager.fontManager
for family, others in NAMES.items():
    fonts = [font for font in manager.ttflist if font.name == family]
    manager.ttflist += [dataclasses.replace(font, name=other) for font in fonts for other in others.split("|")]
matplotlib.font_manager.json_dump(manager, f"{os.environ['MPLCONFIGDIR']}/fontlist-v{manager.__version__}.json")

known = {font.name for font in matplotlib.font_manager.fontManager.ttflist}
missing = {"WenQuanYi Zen Hei", "Noto Emoji", "DejaVu Sans"} - known
if missing:
    raise SystemExit(f"fonts.py: matplotlib does not find the fonts {sorted(missing)}")
