import contextlib
import io
with contextlib.ExitStack() as stack:
    fs = [stack.enter_context(io.StringIO('a')) for _ in range(2)]
    stack.callback(print, 'closed')
    print([f.read() for f in fs])
with contextlib.redirect_stdout(io.StringIO()) as out:
    print('x')
