def averager():
    total = count = 0
    average = None
    while True:
        value = yield average
        total += value
        count += 1
        average = total / count
a = averager()
next(a)
print(a.send(1), a.send(3))
a.close()
