import bisect
import os
h = []
bisect.insort(h, os)
h[0].system('id')
# expect 5 py.process
# expect 5 sh.command
