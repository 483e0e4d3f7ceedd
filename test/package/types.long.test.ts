import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'

const DIST = join(import.meta.dirname, '../../dist')

test('the published types need neither those of Node nor a later library than ES2022', () => {
  const { Bundler } = ts.ModuleResolutionKind
  const program = ts.createProgram([join(DIST, 'index.d.ts'), join(DIST, 'client.d.mts')], {
    ...{ strict: true, types: [], skipLibCheck: false },
    ...{ target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, moduleResolution: Bundler },
  })
  const own = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(DIST))
  expect(own.length).toBeGreaterThan(10)
  const messages = own.flatMap((file) => program.getSemanticDiagnostics(file))
  expect(messages.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([])
})
