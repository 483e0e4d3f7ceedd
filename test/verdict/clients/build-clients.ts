import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { pythonWith } from './installed.ts'
import { type ClientSource, mistakes, referenceSource, wrongSource } from './wrong-clients.ts'

/** A client's demo, and how to start it. */
export interface ClientProgram {
  id: string
  command: string
  args: string[]
}

/** The clients, ready to run under any Node. Disposing takes their files away. */
export interface BuiltClients extends AsyncDisposable {
  typescript: ClientProgram
  wrong: ReadonlyMap<string, ClientProgram>
}

/** Makes JavaScript of the reference client and of every wrong one, or of those with these ids. */
export async function buildClients(ids: readonly string[] = mistakes.map(({ id }) => id)): Promise<BuiltClients> {
  const folder = await mkdtemp(join(tmpdir(), 'yield-clients-'))
  const build = async (id: string, source: ClientSource): Promise<ClientProgram> => {
    await writeScripts(join(folder, id), source)
    return { id, command: process.execPath, args: [join(folder, id, 'demo.js')] }
  }
  const wrong = await Promise.all(ids.map((id) => build(id, wrongSource(id))))
  return {
    typescript: await build('typescript', referenceSource()),
    wrong: new Map(wrong.map((program) => [program.id, program])),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}

/** The folder of the clients. */
export const EXAMPLES = fileURLToPath(new URL('../../../examples/clients/', import.meta.url))

const interpreter = pythonWith('requests', 'jwt')

/** The client in Python; undefined where no Python has requests and PyJWT. */
export const python: ClientProgram | undefined =
  interpreter === undefined ? undefined : { id: 'python', command: interpreter, args: [`${EXAMPLES}python/demo.py`] }

/** The client for shell scripts. */
export const shell: ClientProgram = { id: 'shell', command: 'bash', args: [`${EXAMPLES}shell/demo.sh`] }

const compilerOptions: ts.CompilerOptions = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2022,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
}

async function writeScripts(folder: string, source: ClientSource): Promise<void> {
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  for (const [name, text] of Object.entries(source)) {
    const { outputText } = ts.transpileModule(text, { fileName: name, compilerOptions })
    await writeFile(join(folder, name.replace(/\.ts$/, '.js')), outputText)
  }
}
