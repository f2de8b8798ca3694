echo x >> ~/.bashrc
# expect 1 sh.command
