/** Node, mode, version, the lights and the small plots. */
export function TopBar() {
  return <header class="top-bar">Pointsman</header>;
}
