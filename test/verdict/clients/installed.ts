import { spawnSync } from 'node:child_process'

/** @returns true if the machine has a program; `args` ask it for its version */
export function installed(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}

/** A Python that has these modules. Debian's own has Debian's packages; another one may come first in PATH. */
export function pythonWith(...modules: readonly string[]): string | undefined {
  return ['python3', '/usr/bin/python3'].find(
    (command) => spawnSync(command, ['-c', `import ${modules.join(', ')}`], { stdio: 'ignore' }).status === 0,
  )
}
