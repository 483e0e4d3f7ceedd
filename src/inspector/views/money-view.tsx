/** Money. */
export function MoneyView() {
  return <p class="pad mute">Money</p>
}
