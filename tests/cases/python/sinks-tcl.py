import tkinter
root = tkinter.Tk()
root.tk.eval('exec touch x')
# expect 3 py.dynamic-code
