const jobs = [() => 1, () => 2];
console.log(jobs[Math.floor(Math.random() * jobs.length)]() > 0);
