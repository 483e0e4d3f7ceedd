import { FileError } from './file-error.ts'
import { readLimited, UnreadableFileError } from './read-limited.ts'
import { type FileTerms, YamlSource } from './yaml-source.ts'

/** Reads a YAML or JSON file of at most `limit` bytes. Throws {@link FileError}. */
export async function readYaml(file: string, terms: FileTerms, limit: number): Promise<YamlSource> {
  try {
    return new YamlSource(file, await readLimited(file, limit), terms)
  } catch (error) {
    if (!(error instanceof UnreadableFileError)) throw error
    throw new FileError([{ file, path: '', message: error.message, fix: error.fix }])
  }
}
