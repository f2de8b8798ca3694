import importlib.resources
importlib.resources._common.resolve(input())
import importlib.resources
importlib.resources.files(input())
# expect 2 py.dynamic-code
# expect 4 py.dynamic-code
