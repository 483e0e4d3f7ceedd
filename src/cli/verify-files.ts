import { readCertificate, verifyCertificate } from '../certify/certificate-file.ts'
import { compareCertificates } from '../certify/compare-certificates.ts'
import { INCONCLUSIVE } from '../exec/exit-code.ts'
import { OptionError } from '../option-error.ts'
import { visibleText } from '../support/visible-text.ts'

/** Says of one certificate whether it is intact, or of two also whether they come to the same. Resolves to the exit code. */
export async function verifyFiles(paths: readonly string[], print: (line: string) => void): Promise<number> {
  if (paths.length > 2) throw new OptionError('--verify compares two files at most')
  const files = await Promise.all(paths.map(readCertificate))
  const verified = files.map((file) => ({ file, ...verifyCertificate(file) }))
  for (const { file, sentence } of verified) print(visibleText(`${file.path}: ${sentence}`))
  const [first, second] = files
  if (verified.some(({ state }) => state === 'changed')) return 1
  const same = verified.every(({ state }) => state === 'intact') ? 0 : INCONCLUSIVE
  if (!first || !second) return same
  const { sameResults, sentences } = compareCertificates(first.certificate, second.certificate)
  for (const sentence of sentences) print(visibleText(sentence))
  return sameResults ? same : 1
}
