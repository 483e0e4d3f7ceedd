/**
 * Adds a text to the message of an error that a runner will print: some print the message, others the stack, which begins with it.
 * @returns false if it is nothing that has a message
 */
export function addToError(error: unknown, text: string): boolean {
  if (typeof error !== 'object' || error === null || !('message' in error)) return false
  const shown = error as { message: unknown; stack?: unknown }
  const { stack } = shown // before the message changes: it may be made of it when it is first read
  shown.message = `${shown.message}\n\n${text}`
  if (typeof stack !== 'string') return true
  const frames = stack.search(/\n\s+at /)
  const end = frames < 0 ? stack.length : frames
  shown.stack = `${stack.slice(0, end)}\n\n${text}\n${stack.slice(end)}`
  return true
}
