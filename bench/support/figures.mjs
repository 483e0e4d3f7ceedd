/**
 * Ratios that were recorded in git, and what is much worse than them. Recorded figures: one entry for each major version of Node, with
 * `node` (its version), `machine`, `recorded` (a date) and `ratios` by name.
 */

/** So much worse than the recorded figure is worth a warning: less is usual between two runs on a quiet machine. */
const MARGIN = 1.1

/** Ratios of rows as {@link table} has them, by what was measured and beside what. Rows without a reference have none. */
export function ratiosOf(rows) {
  const measured = rows.filter(({ reference }) => reference !== undefined)
  return Object.fromEntries(measured.map((row) => [nameOf(row), Number((row.value / row.reference).toFixed(3))]))
}

/** The recorded figures with those of a run in place of older ones; ratios that the run did not measure stay. */
export function withRun(recorded, run) {
  const before = recorded.find((entry) => major(entry) === major(run))
  const entry = { ...run, ratios: { ...before?.ratios, ...run.ratios } }
  return [...recorded.filter((other) => other !== before), entry].sort((a, b) => major(a) - major(b))
}

/**
 * A sentence for each ratio that is more than a tenth worse than the recorded one, and one if there is nothing to compare with. More is
 * better of what is counted by the second, less of everything else.
 */
export function warningsOf(rows, recorded, node) {
  const entry = recorded.find((one) => major(one) === major({ node }))
  if (!entry) return [`Nothing has been recorded for Node ${major({ node })}: npm run bench -- --record`]
  const now = ratiosOf(rows)
  const compared = rows.filter((row) => nameOf(row) in now && nameOf(row) in entry.ratios)
  return compared.flatMap((row) => {
    const name = nameOf(row)
    const [is, was] = [now[name], entry.ratios[name]]
    const worse = row.unit === '/s' ? was / is : is / was
    if (!(worse > MARGIN)) return []
    const percent = Math.round(100 * (worse - 1))
    return [`${name}: the ratio is ${is.toFixed(2)}, ${percent} % worse than ${was.toFixed(2)} (${whereOf(entry)})`]
  })
}

const nameOf = ({ what, beside }) => `${what}, beside ${beside}`
const major = ({ node }) => Number(/\d+/.exec(node)[0])
const whereOf = ({ node, machine, recorded }) => `${recorded}, Node ${node}, ${machine}`
