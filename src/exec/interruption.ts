/** That a person or a CI system wants an end. The reason of both is the signal that came, such as `SIGINT`. */
export interface Interruption {
  /** The command is told, and has the time it takes. */
  asked: AbortSignal
  /** The command is ended where it stands. */
  insisted: AbortSignal
}
