/** Something could not be written where it is to be kept; the message says why. Nothing that was kept is lost. */
export class NotKeptError extends Error {
  override readonly name: string = 'NotKeptError'
  readonly code: string = 'not_kept'
}
