/** Control. */
export function ControlView() {
  return <p class="pad mute">Control</p>
}
