// Loaded into a sandbox that is measured: says, when asked over IPC, how much of its memory is in use and how much processor time it took.
process.on('message', (what) => {
  const cpu = process.cpuUsage()
  if (what === 'memory') globalThis.gc()
  process.send({ ...process.memoryUsage(), cpu })
})
process.channel.unref()
