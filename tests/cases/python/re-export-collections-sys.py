import collections
collections._sys.modules['os'].system('id')
# expect 2 py.process
# expect 2 py.internals
# expect 2 sh.command
