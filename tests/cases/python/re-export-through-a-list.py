import glob
[glob][0].os.system('id')
# expect 2 py.process
# expect 2 sh.command
