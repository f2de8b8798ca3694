setTimeout(() => console.log(1), 5); setInterval(f, 10)
