import { rolldown } from 'rolldown'
import { ROOT } from '../cli/command.ts'

/** Bundles `yield-sandbox/client` as somebody's application would be for a browser. Returns a script that sets `bundled`. */
export async function bundledClient(): Promise<string> {
  const bundle = await rolldown({
    cwd: ROOT,
    input: 'application.mjs',
    platform: 'browser',
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(log.message)
    },
    plugins: [
      {
        name: 'application',
        resolveId: (id) => (id === 'application.mjs' ? `${ROOT}/${id}` : null),
        load: (id) => (id.endsWith('application.mjs') ? "export * from 'yield-sandbox/client'" : null),
      },
    ],
  })
  const { output } = await bundle.generate({ format: 'iife', name: 'bundled', codeSplitting: false, minify: true })
  await bundle.close()
  return output[0].code
}
