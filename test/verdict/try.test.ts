import { test } from 'vitest'
import { buildClients } from './clients/build-clients.ts'
import { Stage } from './clients/rehearsal.ts'
import { mistakes } from './clients/wrong-clients.ts'

test('try', async () => {
  await using clients = await buildClients()
  await using stage = await Stage.open()
  const t0 = performance.now()
  const ids = process.env.IDS?.split(',')
  const todo = mistakes.filter(({ id }) => (ids ? ids.includes(id) : true))
  const lines: string[] = []
  const one = async () => {
    for (let m = todo.shift(); m; m = todo.shift()) {
      const start = performance.now()
      const r = await stage.rehearse([clients.wrong.get(m.id)!], m.exercise)
      const of = (o: string) =>
        r.findings
          .filter(({ judged }) => judged.outcome === o)
          .map(({ id }) => id)
          .join(',')
      lines.push(
        `${m.id} [${m.finding}] ${((performance.now() - start) / 1000).toFixed(1)}s code ${r.codes} ${r.sound}\n   FAILED ${of('failed')}  ERR ${of('errored')} PASSED ${of('passed')} REVIEW ${of('needs_review')}`,
      )
      if (ids) lines.push(r.output, ...r.findings.map((f) => JSON.stringify(f)))
    }
  }
  await Promise.all(Array.from({ length: Number(process.env.AT_ONCE ?? 8) }, one))
  console.log(lines.join('\n'), ((performance.now() - t0) / 1000).toFixed(1))
})
