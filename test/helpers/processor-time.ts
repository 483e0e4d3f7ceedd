/** Milliseconds of processor time that a task takes: the same however many others want the processor. */
export function processorTime(task: () => void): number {
  const began = process.cpuUsage()
  task()
  const { user, system } = process.cpuUsage(began)
  return (user + system) / 1000
}
