import { FileError } from '../yaml-file/file-error.ts'

/** A scenario that cannot be used. Its message has one line per issue. */
export class ScenarioError extends FileError {
  override readonly name = 'ScenarioError'
  readonly code = 'invalid_scenario'
}
