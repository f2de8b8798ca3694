import sys
sys._getframe(0).f_globals['__builtins__'].__import__('os').system('id')
# expect 2 py.internals
