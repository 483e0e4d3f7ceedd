import { createReadStream } from 'node:fs'
import { FileError } from './file-error.ts'
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

/** The reason why a file could not be read, and the fix. */
export class UnreadableFileError extends Error {
  override readonly name = 'UnreadableFileError'

  constructor(
    message: string,
    readonly fix: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** Reads a file's text, UTF-8 without its byte order mark. Never reads more than `limit` bytes, even of a device. */
export async function readLimited(file: string, limit: number): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of createReadStream(file, { end: limit })) {
      chunks.push(chunk)
      length += chunk.length
    }
  } catch (error) {
    throw unreadable(error)
  }
  if (length > limit) {
    throw new UnreadableFileError(`is larger than ${Math.floor(limit / 1024)} KiB`, 'make it smaller')
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch (error) {
    throw new UnreadableFileError('is not UTF-8 text', 'save it with the encoding UTF-8', { cause: error })
  }
}

const REASONS: Record<string, [message: string, fix: string]> = {
  ENOENT: ['no such file', 'check the path'],
  ENOTDIR: ['no such file', 'check the path'],
  ELOOP: ['is a symbolic link to itself', 'check the path'],
  EISDIR: ['is a directory', 'name a file in it'],
  EACCES: ['must not be read', 'allow reading it'],
  EPERM: ['must not be read', 'allow reading it'],
}

function unreadable(error: unknown): UnreadableFileError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
  const [message, fix] = REASONS[code] ?? [`cannot be read (${code})`, 'check the path']
  return new UnreadableFileError(message, fix, { cause: error })
}
