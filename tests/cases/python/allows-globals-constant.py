COUNT = 0
def bump():
    global COUNT
    COUNT += 1
    return COUNT
bump()
print(COUNT, 'COUNT' in globals())
