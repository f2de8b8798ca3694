import shutil
shutil.rmtree('/usr')
# expect 2 py.open-outside
