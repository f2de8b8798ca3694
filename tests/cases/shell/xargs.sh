ls | xargs -I {} -n 1 id {}
# expect 1 sh.command
