ls | xargs -I {} -n 1 rm {}
# expect 1 sh.command
