def ask(prompt, default='3'):
    try:
        return int(input(prompt))
    except (EOFError, ValueError):
        return int(default)
n = ask('n? ')
while n > 0:
    n -= 1
else:
    print('done')
