/** Chain. */
export function ChainView() {
  return <p class="pad mute">Chain</p>
}
