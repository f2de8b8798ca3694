timeout 5 python3 a.py
# expect 1 sh.command
