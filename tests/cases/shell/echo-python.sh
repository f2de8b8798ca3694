echo 'import os; os.system("id")' | python3
# expect 1 sh.command
# expect 1 py.process
