/** Whether a stream is to be written in colours: on a terminal that knows some, unless NO_COLOR is set (https://no-color.org). */
export function wantsColour(stream: { isTTY?: boolean }): boolean {
  const { NO_COLOR, TERM } = process.env
  return stream.isTTY === true && !NO_COLOR && TERM !== 'dumb'
}
