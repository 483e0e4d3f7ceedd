/** One word that the sandbox uses, explained. */
export interface CatalogueEntry {
  id: string
  /** The catalogue that it is in. */
  is: 'error code' | 'finding' | 'fault kind' | 'scenario' | 'outcome' | 'exit code' | 'status'
  /** What is said of it, a label and a text each. */
  says: [label: string, text: string][]
}
