from IPython.core import display
display.get_ipython().system('id')
get_ipython().magic(input())
get_ipython().run_line_magic(magic_name='run', line='x.py')
# expect 2 sh.command
# expect 3 py.ipython
# expect 4 py.ipython
