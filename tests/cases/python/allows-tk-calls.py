import tkinter as tk
win = tk.Tk()
win.tk.call('wm', 'iconphoto', win._w, tk.PhotoImage(file='pic.png'))
