from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.buffer import Buffer
Buffer().open_in_editor()
import matplotlib.pyplot as plt
plt.switch_backend('module://evil')
import matplotlib
matplotlib.rc_file('x')
# expect 3 py.process
# expect 5 py.dynamic-code
# expect 7 py.dynamic-code
