/** Verdict. */
export function VerdictView() {
  return <p class="pad mute">Verdict</p>
}
