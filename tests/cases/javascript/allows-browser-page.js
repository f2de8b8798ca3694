const button = document.querySelector('#go');
const list = document.getElementById('list');
button.addEventListener('click', async (event) => {
  event.preventDefault();
  const li = document.createElement('li');
  li.textContent = event.target.value;
  li.classList.add('item');
  list.appendChild(li);
  localStorage.setItem('items', JSON.stringify([...list.children].map((x) => x.textContent)));
});
window.addEventListener('resize', () => { document.body.style.width = `${window.innerWidth}px`; });
window.requestAnimationFrame(function draw() { window.requestAnimationFrame(draw); });
