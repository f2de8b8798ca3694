const fs=require('fs'); fs.writeFileSync('x.txt','1'); console.log(fs.readFileSync('x.txt','utf8'))
