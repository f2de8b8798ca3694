obj = {'a': 1, 'b': [1, 2]}
for key in obj:
    print(obj[key])
key = 'b'
obj[key].append(3)
del obj['a']
