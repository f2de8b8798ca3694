exit._ip.system('id')
quit._ip.run_cell(input())
# expect 1 py.ipython
# expect 2 py.ipython
