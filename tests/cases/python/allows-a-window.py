import tkinter as tk
from tkinter import ttk
root = tk.Tk()
root.title('a')
label = ttk.Label(root, text='b')
label.pack()
root.after(1000, root.destroy)
root.mainloop()
