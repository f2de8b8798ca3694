import importlib.resources
importlib.resources._common.resolve(input())
# expect 2 py.dynamic-code
