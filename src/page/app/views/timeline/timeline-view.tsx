export function TimelineView() {
  return <h1>Timeline</h1>;
}
