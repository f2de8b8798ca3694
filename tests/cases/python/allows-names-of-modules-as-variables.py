os = 'linux'
subprocess = [1, 2]
system = os.upper()
socket = {'a': 1}
print(os, subprocess[0], system, socket.get('a'))
