import { afterEach } from 'vitest'
import { Command } from './command.ts'

/** Starts commands for the tests of a file. Those that a test leaves running are killed after it. */
export function commandStarter(): (...given: ConstructorParameters<typeof Command>) => Command {
  let started: Command[] = []
  afterEach(async () => {
    for (const command of started) command.kill('SIGKILL')
    await Promise.all(started.map(({ ended }) => ended))
    started = []
  })
  return (...given) => {
    const command = new Command(...given)
    started.push(command)
    return command
  }
}
