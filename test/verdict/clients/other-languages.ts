import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type ClientProgram, EXAMPLES } from './build-clients.ts'
import { installed } from './installed.ts'

/** The demos of the clients in Go, Java and Ruby, of those languages that the machine has. What is compiled goes to `folder`. */
export function otherLanguages(folder: string): ClientProgram[] {
  const programs: ClientProgram[] = []
  if (installed('ruby', '--version')) {
    programs.push({ id: 'ruby', command: 'ruby', args: [join(EXAMPLES, 'ruby/demo.rb')] })
  }
  if (installed('go', 'version')) {
    const binary = join(folder, 'go-demo')
    execFileSync('go', ['build', '-buildvcs=false', '-o', binary, './cmd/demo'], { cwd: join(EXAMPLES, 'go') })
    programs.push({ id: 'go', command: binary, args: [] })
  }
  if (installed('javac', '-version')) {
    const classes = join(folder, 'java')
    mkdirSync(classes)
    execFileSync('sh', ['-c', 'javac -encoding UTF-8 -d "$0" $(find . -name "*.java")', classes], {
      cwd: join(EXAMPLES, 'java/src/main'),
    })
    // Compiled with less care, it starts in half the time.
    const args = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-cp', classes, 'com.acme.portfolio.Demo']
    programs.push({ id: 'java', command: 'java', args })
  }
  return programs
}
