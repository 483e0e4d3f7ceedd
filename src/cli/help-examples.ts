/** The end of a command's help: lines to paste, given without the program's name. */
export function helpExamples(examples: readonly string[]): string {
  const heading = examples.length === 1 ? 'Example:' : 'Examples:'
  return ['', heading, ...examples.map((example) => `  yield-sandbox ${example}`)].join('\n')
}
