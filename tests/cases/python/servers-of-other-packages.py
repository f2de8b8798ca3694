import websockets, grpc
websockets.serve(handle, 'localhost', 1)
grpc.server(pool)
# expect 3 py.socket
# expect 2 py.socket
