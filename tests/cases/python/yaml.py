import yaml
yaml.load(open('x'))
# expect 2 py.deserialise
