const m = /a/.exec('a'); console.log(m)
