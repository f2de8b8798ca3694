outer: for (let i = 0; i < 3; i++) {
  for (let j = 0; ; j++) {
    if (j > i) continue outer;
    if (i === 2) break outer;
    console.log(i, j);
  }
}
do { var once = 1; } while (!once);
