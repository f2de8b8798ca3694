const canvas = document.getElementById('c');
const ctx = canvas.getContext('2d');
const balls = Array.from({ length: 9 }, () => ({ x: Math.random() * 100, y: 0 }));
function draw() {
  ctx.clearRect(0, 0, canvas.width, canvas.height);
  for (const b of balls) { ctx.beginPath(); ctx.arc(b.x, b.y, 3, 0, 2 * Math.PI); ctx.fill(); b.y += 1; }
  requestAnimationFrame(draw);
}
draw();
