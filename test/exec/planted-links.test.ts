import { lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { certificateOf } from '../../src/certify/certificate.ts'
import { writeCertificate } from '../../src/certify/certificate-file.ts'
import { prepareFiles, writeEach, writeOwn } from '../../src/exec/report-files.ts'
import { saveScenario } from '../../src/explore/shrink/shrink.ts'
import { findScenario } from '../../src/scenarios/find-scenario.ts'
import { sampleEvidence } from '../certify/sample-evidence.ts'
import { temporaryDirectory } from '../data-dir/temporary-directory.ts'

const OWN = 'a file of yours'

/** A link that somebody put where a command writes, to a file of yours or to one that is not there yet. */
function planted(name: string, to: 'a file' | 'nothing') {
  const directory = temporaryDirectory()
  const [yours, path] = [join(directory, 'yours'), join(directory, name)]
  if (to === 'a file') writeFileSync(yours, OWN)
  symlinkSync(yours, path)
  const expectUntouched = () => {
    expect(lstatSync(path).isSymbolicLink()).toBe(true)
    if (to === 'a file') expect(readFileSync(yours, 'utf8')).toBe(OWN)
    else expect(lstatSync(yours, { throwIfNoEntry: false })).toBeUndefined()
  }
  return { path, expectUntouched }
}

const REFUSED = /cannot be written \(it is a symbolic link, and those are not followed: name the file itself\)/

test.each(['a file', 'nothing'] as const)('no command writes through a link to %s', async (to) => {
  const report = planted('report.html', to)
  const said: string[] = []
  await expect(prepareFiles([report])).rejects.toThrow(REFUSED)
  expect(
    await writeEach(
      [{ path: report.path, form: 'html' }],
      () => 'x',
      (line) => said.push(line),
    ),
  ).toBe(false)
  expect(said).toEqual([expect.stringMatching(REFUSED)])
  report.expectUntouched()

  const scenario = planted('scenario.yaml', to)
  await expect(saveScenario(scenario.path, await findScenario('dropped-deposit'), '--save')).rejects.toThrow(REFUSED)
  scenario.expectUntouched()

  for (const name of ['certificate.html', 'certificate.json']) {
    const link = planted(name, to)
    const base = link.path.replace(/\.\w+$/, '')
    const writing = writeCertificate({ html: `${base}.html`, json: `${base}.json` }, certificateOf(sampleEvidence()))
    await expect(writing).rejects.toThrow(REFUSED)
    link.expectUntouched()
  }
})

test('what the system calls by a link is written to, and a file is replaced whole', async () => {
  await writeOwn('/dev/null', 'x')
  const path = join(temporaryDirectory(), 'report.html')
  await writeOwn(path, 'a long text')
  await writeOwn(path, 'short')
  expect(readFileSync(path, 'utf8')).toBe('short')
})
