X=rm; Y=X
${!Y} z
# expect 2 sh.command
