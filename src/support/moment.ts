/**
 * Milliseconds since the Unix epoch of a date, or a date and time, as ISO 8601 writes it; NaN for what is none, and for a day that its
 * month does not have, which `Date.parse` takes for one of the next month.
 */
export function parseMoment(text: string): number {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)(?!\d)/.exec(text) ?? []
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`)
  return date.getUTCDate() === Number(day) ? Date.parse(text) : Number.NaN
}
