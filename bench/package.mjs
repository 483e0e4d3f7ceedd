import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { inPackage } from './support/processes.mjs'

/** Runtime dependencies, direct and in all (on any one platform), and the size of what `npm publish` would send. */
export async function packageFigures() {
  const { dependencies } = JSON.parse(readFileSync(inPackage('package.json'), 'utf8'))
  const { packages } = JSON.parse(readFileSync(inPackage('package-lock.json'), 'utf8'))
  const installed = Object.entries(packages).filter(([path, entry]) => path && !entry.dev && fits(entry))
  const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: inPackage('.'),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [{ size, unpackedSize, entryCount }] = JSON.parse(packed)
  return [
    { what: 'runtime dependencies, direct', value: Object.keys(dependencies).length },
    { what: 'runtime dependencies, in all', value: installed.length },
    { what: `packed, ${entryCount} files`, value: size / 1024, unit: 'KiB' },
    { what: 'unpacked', value: unpackedSize / 1024, unit: 'KiB' },
  ]
}

function fits({ os, cpu, libc }) {
  const allows = (list, name) => !list || list.includes(name)
  return allows(os, process.platform) && allows(cpu, process.arch) && allows(libc, 'glibc')
}
