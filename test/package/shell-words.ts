/** Words of a simple command as a shell has them: quotes are taken off, and the end of a substitution or a redirection separates. */
export function shellWordsOf(line: string): string[] {
  return [...line.matchAll(/'([^']*)'|"([^"]*)"|([^\s)>]+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? '',
  )
}
