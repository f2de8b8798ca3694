console.log(process.argv.slice(2), process.env.HOME === undefined, process.cwd().length > 0, process.platform, process.version.startsWith('v'), process.memoryUsage().rss > 0, process.uptime() > 0, process.hrtime.bigint() > 0n);
process.stdout.write('x\n');
process.on('exit', (code) => console.log(code));
process.exitCode = 0;
