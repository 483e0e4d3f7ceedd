import { signal } from '@preact/signals-core'
import type { CertificateDocument } from '../../certify/certificate-document.ts'
import type { Headline, MergedReport, Report } from '../../control/contract.ts'
import type { ExplorationDocument } from '../../explore/exploration-document.ts'
import { go } from './address.ts'

/** A file that is shown instead of what is live, or the reason why it cannot be. */
export type OpenedFile = { name: string; line: Pick<Headline, 'tone' | 'sentence'> } & FileContent

/** What is in a file. */
export type FileContent =
  | { kind: 'report'; data: Report | MergedReport }
  | { kind: 'exploration'; data: ExplorationDocument }
  | { kind: 'certificate'; data: CertificateDocument }
  | { kind: 'none' }

/** The file that is shown; null for what is live. */
export const openedFile = signal<OpenedFile | null>(null)

/** Shows a file in its view. */
export function showFile(file: OpenedFile): void {
  openedFile.value = file
  go({ view: file.kind === 'exploration' ? 'explore' : 'verdict', selected: '' })
}
