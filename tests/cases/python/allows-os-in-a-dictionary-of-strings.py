info = {'os': 'linux', 'subprocess': None, 'sys': 3}
print(info['os'].upper(), info['sys'] + 1)
for name in ('os', 'sys'):
    print(info[name])
