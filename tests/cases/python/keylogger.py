from pynput.keyboard import Listener
Listener(on_press=print).start()
# expect 1 py.ui
# expect 1 pkg.blocked
