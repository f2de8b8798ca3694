echo x >> ~/.bashrc
# expect 1 sh.command
# expect 1 any.loader
