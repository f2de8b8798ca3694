import sys
sys.__loader__.load_module('posix').system('id')
# expect 2 py.internals
