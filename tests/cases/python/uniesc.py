# coding: unicode_escape
#\u000aimport os
# expect 1 source.encoding
