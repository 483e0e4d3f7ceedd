import type { Credentials } from '../control/contract.ts'

/** The flag by which the process in the background knows its log. */
export const LOG_FLAG = '--in-background-with-log'

/** How long a sandbox in the background may be unused before it ends by itself. */
export const IDLE_EXIT = '8h'

/** What the process in the background reports when it can serve: `first` is false if another sandbox became the folder's meanwhile. */
export interface BackgroundReport {
  first: boolean
  credentials: Credentials
  inspector?: string | undefined
}
