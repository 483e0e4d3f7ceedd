import { compareCertificates } from '../certify/compare-certificates.ts'
import { readCertificate } from '../certify/read-certificate.ts'
import { verifyCertificate } from '../certify/verify-certificate.ts'
import { OptionError } from '../option-error.ts'
import { visibleText } from '../support/visible-text.ts'

/** Says of one certificate whether it is intact, or of two also whether they come to the same. Resolves to the exit code. */
export async function verifyFiles(paths: readonly string[], print: (line: string) => void): Promise<number> {
  if (paths.length > 2) throw new OptionError('--verify compares two files at most')
  const files = await Promise.all(paths.map(readCertificate))
  const verified = files.map((file) => ({ file, ...verifyCertificate(file) }))
  for (const { file, sentence } of verified) print(visibleText(`${file.path}: ${sentence}`))
  const [first, second] = files
  if (!verified.every(({ intact }) => intact)) return 1
  if (!first || !second) return 0
  const { sameResults, sentences } = compareCertificates(first.certificate, second.certificate)
  for (const sentence of sentences) print(visibleText(sentence))
  return sameResults ? 0 : 1
}
