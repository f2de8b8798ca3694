try:
    import nothing_here
except ImportError:
    nothing_here = __import__('os')
nothing_here.system('id')
# expect 4 py.dynamic-code
# expect 5 py.process
# expect 5 sh.command
