open(str('/x'),'w')
# expect 1 py.open-outside
