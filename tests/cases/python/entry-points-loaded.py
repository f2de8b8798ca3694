import importlib.metadata as m
for ep in m.entry_points(group='console_scripts'):
    ep.load()('id')
# expect 3 py.dynamic-code
