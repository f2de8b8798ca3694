ls -la | head -n 3
