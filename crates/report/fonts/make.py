#!/usr/bin/env python3
"""Makes the fonts of the figures from those of DejaVu 2.37: python3 make.py FOLDER-WITH-DEJAVU

Needs fontTools. Keeps Latin, Greek, Cyrillic, punctuation, arrows and the signs that figures use; takes
accented letters apart into outlines, so that one glyph never needs another; drops hints and layout tables.
"""

import sys
from fontTools import subset
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

RANGES = [
    (0x20, 0x7E), (0xA0, 0x17F), (0x2C6, 0x2DD), (0x384, 0x3CE), (0x400, 0x45F), (0x2010, 0x2027),
    (0x2030, 0x203A), (0x2070, 0x2094), (0x20AC, 0x20AC), (0x2190, 0x2193), (0x2202, 0x2265),
    (0x25A0, 0x25CF), (0xFFFD, 0xFFFD),
]
FACES = {"DejaVuSansCondensed.ttf": "regular.ttf", "DejaVuSansCondensed-Bold.ttf": "bold.ttf"}


def main(folder):
    for source, target in FACES.items():
        options = subset.Options(
            hinting=False, layout_features=[], notdef_outline=True, name_IDs=[0, 1, 2, 4, 6, 13],
            glyph_names=False, recalc_timestamp=False, drop_tables=[
                "GDEF", "GPOS", "GSUB", "kern", "gasp", "FFTM", "PfEd", "fpgm", "prep", "cvt ",
            ],
        )
        font = subset.load_font(f"{folder}/{source}", options)
        keep = subset.Subsetter(options)
        keep.populate(unicodes=[c for low, high in RANGES for c in range(low, high + 1)])
        keep.subset(font)
        apart(font)
        subset.save_font(font, target, options)
        print(target, len(font.getGlyphOrder()), "glyphs")


def apart(font):
    glyphs = font.getGlyphSet()
    for name in font.getGlyphOrder():
        if not font["glyf"][name].isComposite():
            continue
        recording = DecomposingRecordingPen(glyphs)
        glyphs[name].draw(recording)
        pen = TTGlyphPen(None)
        recording.replay(pen)
        font["glyf"][name] = glyph = pen.glyph()
        glyph.recalcBounds(font["glyf"])


if __name__ == "__main__":
    main(sys.argv[1])
