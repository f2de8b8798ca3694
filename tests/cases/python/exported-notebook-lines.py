get_ipython().system('id')
get_ipython().system('pip install paramiko')
get_ipython().getoutput('curl x')
get_ipython().run_line_magic('pip', 'install http://x/y.whl')
get_ipython().system(x)
get_ipython().system('ls {d}')
get_ipython().system_raw('ls')
ip = get_ipython()
ip.system('pip install numpy')
# expect 1 sh.command
# expect 2 pkg.blocked
# expect 3 sh.command
# expect 4 pkg.source
# expect 5 py.ipython
# expect 6 py.ipython
# expect 7 py.ipython
