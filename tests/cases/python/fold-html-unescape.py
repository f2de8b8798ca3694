import html
import os
getattr(os, html.unescape('&#115;ystem'))('id')
# expect 3 py.internals
