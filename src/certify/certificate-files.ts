import { writeOwn, writing } from '../exec/report-files.ts'
import { OptionError } from '../option-error.ts'
import { shorten } from '../support/shorten.ts'
import type { Certificate } from './certificate.ts'
import { renderJson } from './render/render-json.ts'
import { renderPage } from './render/render-page.ts'

/** The page and the JSON beside it. */
export interface CertificateFiles {
  html: string
  json: string
}

/** Where the page goes, and the JSON of the same name. Throws OptionError when the path is not that of a page. */
export function certificateFiles(path: string): CertificateFiles {
  if (/[^/\\]\.html?$/i.test(path)) return { html: path, json: path.replace(/\.html?$/i, '.json') }
  throw new OptionError(`--output "${shorten(path)}" must end in .html; the JSON gets the same name with .json`)
}

/** Writes both. Throws OptionError naming the one that cannot be written. */
export async function writeCertificate({ html, json }: CertificateFiles, certificate: Certificate): Promise<void> {
  await writing(html, () => writeOwn(html, renderPage(certificate)), '--output')
  await writing(json, () => writeOwn(json, renderJson(certificate)), '--output')
}
