import http.server
# expect 1 py.socket
