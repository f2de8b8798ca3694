uv run --with paramiko x.py
uvx --from ansible-core x
pipx run --spec scapy x
poetry add numpy@1.21
npx -p zx cowsay
# expect 1 pkg.blocked
# expect 1 sh.command
# expect 2 pkg.blocked
# expect 2 sh.command
# expect 3 pkg.blocked
# expect 3 sh.command
# expect 4 pkg.version
# expect 4 sh.command
# expect 5 pkg.blocked
# expect 5 sh.command
