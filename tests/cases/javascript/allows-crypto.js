const c=require('crypto'); c.createHash('sha256').update('x').digest('hex')
