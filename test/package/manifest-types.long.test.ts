import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { ROOT } from '../cli/command.ts'
import { folderOf } from './folder-of.ts'

const read = (name: string) => parse(readFileSync(join(ROOT, 'deploy/kubernetes', name), 'utf8'), { merge: true })
const [set, service, policy] = ['statefulset.yaml', 'service.yaml', 'network-policy.yaml'].map(read)

const types = folderOf('kubernetes-types')
test.skipIf(types === undefined)(
  "the manifests keep the API's types, in which nothing may be that it does not know",
  () => {
    const wrong = structuredClone(set)
    wrong.spec.template.spec.containers[0].readOnly = true
    const typed: TypedManifest[] = [
      ['StatefulSet', 'apps/v1', set],
      ['Service', 'core/v1', service],
      ['NetworkPolicy', 'networking/v1', policy],
      ['StatefulSet', 'apps/v1', wrong],
    ]
    expect(objectionsTo(typed, types!)).toEqual([expect.stringContaining('\'"readOnly"\' does not exist in type')])
  },
)
test.runIf(types === undefined)(
  'the manifests were not held against its types: kubernetes-types is not installed',
  () => {},
)

type TypedManifest = [type: string, from: string, manifest: object]

/** What the compiler says of manifests as objects of types of kubernetes-types. */
function objectionsTo(typed: TypedManifest[], folder: string): string[] {
  const file = join(ROOT, 'manifests.ts')
  const lines = typed.map(([type, from, manifest], i) => {
    return `export const m${i}: import('${join(folder, from)}').${type} = ${JSON.stringify(manifest)}`
  })
  const options = { strict: true, noEmit: true, skipLibCheck: true, types: [], target: ts.ScriptTarget.ES2022 }
  const host = ts.createCompilerHost(options)
  const { getSourceFile } = host
  host.getSourceFile = (name, ...others) =>
    name === file
      ? ts.createSourceFile(name, lines.join('\n'), ts.ScriptTarget.ES2022)
      : getSourceFile.call(host, name, ...others)
  const program = ts.createProgram([file], options, host)
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '))
}
