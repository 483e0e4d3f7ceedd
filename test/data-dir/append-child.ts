// Appends numbered entries to the journal of the first argument until it is killed or, where its files may not grow
// without end, until a few were refused. Prints a line per answer.
import { statSync } from 'node:fs'
import { JournalFile } from '../../src/data-dir/journal-file.ts'
import { loneFile } from './lone-file.ts'

const [path = ''] = process.argv.slice(2)
const log = { debug() {}, info() {}, warn() {}, error() {} }
const journal = await JournalFile.open<{ n: number; text: string }>(path, loneFile(), log)

let refused = 0
for (let n = 0; refused < 3; n++) {
  try {
    await journal.append({ n, text: 'x'.repeat(500) })
    process.stdout.write(`${n}\n`)
  } catch (error) {
    refused += 1
    process.stdout.write(`refused ${n} at ${statSync(path).size}: ${(error as Error).message}\n`)
  }
}
await journal.append({ n: -1, text: '' })
await journal.close()
process.stdout.write('appended a shorter one\n')
