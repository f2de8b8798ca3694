import threading
lock = threading.Lock()
count = 0
def work():
    global count
    with lock:
        count += 1
ts = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in ts]
[t.join() for t in ts]
print(count)
