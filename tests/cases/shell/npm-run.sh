npm run build
# expect 1 sh.command
