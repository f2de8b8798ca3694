from importlib import util
util.find_spec('os').loader.load_module('os').system('id')
# expect 1 py.dynamic-code
# expect 2 py.dynamic-code
# expect 2 py.internals
