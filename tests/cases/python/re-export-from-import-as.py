from tempfile import _os as o
o.system('id')
# expect 2 py.process
# expect 2 sh.command
