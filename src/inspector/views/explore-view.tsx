/** Explore. */
export function ExploreView() {
  return <p class="pad mute">Explore</p>
}
