base64 -d <<< cm0geAo= | sh
# expect 1 sh.command
