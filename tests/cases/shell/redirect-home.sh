echo x >> ~/.bashrc
# expect 1 any.loader
# expect 1 any.loader
