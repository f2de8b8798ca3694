open('sitecustomize.py', 'w').write(s)
# expect 1 any.loader
