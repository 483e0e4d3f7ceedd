/** Text from outside as an answer may repeat it: the beginning, at most `longest` characters, and … when there is more. */
export function shorten(text: string, longest = 100): string {
  return text.length > longest ? `${text.slice(0, longest - 1)}…` : text
}
