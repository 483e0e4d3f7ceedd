/** Stands where something is not read yet, or says why it cannot be read. */
export function Waiting({ what, error }: { what: string; error?: { message: string } | undefined }) {
  return <p class="pad mute">{error ? error.message : `Reading ${what} …`}</p>
}
