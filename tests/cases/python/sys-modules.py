import sys
sys.modules['o'+'s']
# expect 2 py.internals
