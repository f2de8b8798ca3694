import runpy
runpy.run_path('w.py')
# expect 1 py.dynamic-code
