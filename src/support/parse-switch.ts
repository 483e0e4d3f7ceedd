const ON = ['true', '1']
const OFF = ['false', '0']

/** How a switch is written, for messages. */
export const SWITCH_FORM = 'true, false, 1 or 0'

/** The position of a switch in an environment variable, which is off when empty; undefined if the text is none. */
export function parseSwitch(text: string): boolean | undefined {
  const word = text.trim().toLowerCase()
  if (ON.includes(word)) return true
  return text === '' || OFF.includes(word) ? false : undefined
}
