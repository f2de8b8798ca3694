# coding: utf-7
#+AAo-import os
# expect 1 source.encoding
