/** What the server shows to prove who it is. */
export interface ServerCertificate {
  /** PEM: its own certificate, and those between it and the authority. */
  cert: string
  key: string
  /** For a self-signed certificate: path of the authority's certificate, which clients have to trust. */
  caFile?: string
  /** Removes what is not to outlive the sandbox. */
  discard(): Promise<void>
}
