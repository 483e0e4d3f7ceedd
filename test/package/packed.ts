import { execFileSync } from 'node:child_process'
import { ROOT } from '../cli/command.ts'

/** What npm says of the package that it would make. */
interface Packed {
  /** Bytes of the tarball. */
  size: number
  files: { path: string; size: number }[]
}

/** Has npm say what it would put into the package: a second of processor time, so once a file. */
export function packed(): Packed {
  const list = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: ROOT, encoding: 'utf8' })
  return (JSON.parse(list) as [Packed])[0]
}
