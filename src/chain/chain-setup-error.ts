/** A chain cannot be what its setup says. The message names where the setup was given, what is wrong and what to do. */
export class ChainSetupError extends Error {
  override readonly name = 'ChainSetupError'
  readonly code = 'invalid_chain_setup'

  constructor(origin: string, message: string, fix: string, cause?: unknown) {
    super(`${origin}: ${message}. Fix: ${fix}.`, { cause })
  }
}
