// Opens the data directory of the first argument, prints how that went, and holds it until it is killed.
import { DataDirectory } from '../../src/data-dir/data-directory.ts'

const [path = ''] = process.argv.slice(2)
const log = { debug() {}, info() {}, warn() {}, error() {} }
try {
  await DataDirectory.open(path, { version: '0.1.0', seed: 1, fixture: 'abc', log })
  process.stdout.write('opened\n')
  process.stdin.resume()
} catch (error) {
  process.stdout.write(`${(error as Error).message}\n`)
}
