import os
place = "/etc/cron.d/x"
print(f"{place:=10}")
open(place, "w").write("x")
quote = "#'"; text = f"{quote:=4}"; os.system("id")
# expect 2 any.loader
# expect 4 py.open-outside
# expect 5 py.process
# expect 5 sh.command
