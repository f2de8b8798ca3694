const o={a:1}; for (const k in o) console.log(o[k]); o[key]=2
