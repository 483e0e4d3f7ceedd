/** What one look at this machine brought. */
export interface MachineCheck {
  id: 'node' | 'anvil' | 'glibc' | 'port' | 'fixtures' | 'clock' | 'proxy' | 'left_running'
  /** `good`; `note`: worth knowing; `broken`: a sandbox, or its clients, cannot work. */
  state: 'good' | 'note' | 'broken'
  detail: string
  /** What to do; only where something is to be done. */
  fix?: string
}
